/** A package-lock.json, as far as licences are concerned. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly license?: unknown;
  /** Whether only tools need it. */
  readonly dev?: boolean;
  /** Whether only tools need it, or it may be left out. */
  readonly devOptional?: boolean;
}

/** May be in what is deployed: they ask for no more than that their text goes along. */
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

/** May be in tools as well, which are used and never passed on. */
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

/** Under MIT by their LICENSE file; package.json says so in a form that npm does not read. */
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
 * Finds packages whose licence nobody has agreed to.
 *
 * @param lockFile - a package-lock.json of version 2 or 3
 * @param deployed - whether what it does not mark as a tool is passed on to others
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

/** Reads expressions of one operator, which are all that packages have: `MIT`, `(MIT OR GPL-3.0)`, `MIT AND Zlib`. */
function isAllowed(expression: string, allowed: ReadonlySet<string>): boolean {
  const plain = expression.replace(/^\((.*)\)$/, '$1');
  const alternatives = plain.split(' OR ');
  if (alternatives.length > 1) return alternatives.some((licence) => allowed.has(licence));
  return plain.split(' AND ').every((licence) => allowed.has(licence));
}
