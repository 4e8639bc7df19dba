/** The members of a package-lock.json that concern licences. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly license?: unknown;
  /** Whether only tools need it. */
  readonly dev?: boolean;
  /** Whether it is optional or only tools need it. */
  readonly devOptional?: boolean;
}

/** Licences of deployed packages: they only require a copy of their text. */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Zlib',
]);

/** Further licences of tools, which are used and never distributed. */
const forTools = new Set([
  ...permissive,
  'Artistic-2.0',
  'CC-BY-3.0',
  'MIT-0',
  'MPL-2.0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
  'WTFPL',
]);

/** Under MIT by their LICENSE file; package.json says so in a form that npm does not parse. */
const mitInTheirFiles = new Set([
  'compute-gcd',
  'compute-lcm',
  'httpntlm',
  'stack-trace',
  'validate.io-function',
  'validate.io-integer',
  'validate.io-integer-array',
  'validate.io-number',
]);

/**
 * Finds packages whose licence is not in the lists above.
 *
 * @param lockFile - a package-lock.json of version 2 or 3
 * @param deployed - whether its packages are distributed, tools excepted
 * @returns a line for each such package
 */
export function findForeignLicences({ packages }: LockFile, deployed: boolean): string[] {
  return Object.entries(packages).flatMap(([path, { license: stated, dev, devOptional }]) => {
    const name = path.replace(/^.*node_modules\//, '');
    const license = stated ?? (mitInTheirFiles.has(name) ? 'MIT' : undefined);
    const isTool = !deployed || dev === true || devOptional === true;
    const allowed = isTool ? forTools : permissive;
    if (path === '' || (typeof license === 'string' && isAllowed(license, allowed))) return [];
    return `${path.replace(/^.*node_modules\//, '')}: ${JSON.stringify(license ?? null)}${isTool ? '' : ', deployed'}`;
  });
}

/** Parses expressions with one operator; packages have no others: `MIT`, `(MIT OR GPL-3.0)`, `MIT AND Zlib`. */
function isAllowed(expression: string, allowed: ReadonlySet<string>): boolean {
  const plain = expression.replace(/^\((.*)\)$/, '$1');
  const alternatives = plain.split(' OR ');
  if (alternatives.length > 1) return alternatives.some((licence) => allowed.has(licence));
  return plain.split(' AND ').every((licence) => allowed.has(licence));
}
