/** A package-lock.json of version 2 or 3; only tools need packages that it marks as `dev` or `devOptional`. */
export interface LockFile {
  readonly packages: Readonly<Record<string, { license?: unknown; dev?: boolean; devOptional?: boolean }>>;
}

/** May be deployed: they ask for no more than that their text goes along. */
const permissive = '0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT Zlib'.split(' ');

/** May be in tools, which are used and never passed on. */
const forTools = [
  ...permissive,
  ...'Artistic-2.0 CC-BY-3.0 MIT-0 MPL-2.0 PSF-2.0 Python-2.0 Unlicense WTFPL'.split(' '),
];

/** Under MIT by their LICENSE file; package.json says so in a form that npm does not read. */
const mitByFile =
  /^(compute-(gcd|lcm)|httpntlm|stack-trace|validate\.io-(function|integer(-array)?|number))$/;

/** Finds packages under other licences. `deployed` says whether packages that are no tools are deployed. */
export function findForeignLicences({ packages }: LockFile, deployed: boolean): string[] {
  return Object.entries(packages).flatMap(([path, { license: stated, dev, devOptional }]) => {
    const name = path.replace(/^.*node_modules\//, '');
    const license = stated ?? (mitByFile.test(name) ? 'MIT' : null);
    const isTool = !deployed || dev === true || devOptional === true;
    const allowed = isTool ? forTools : permissive;
    if (path === '' || (typeof license === 'string' && isAllowed(license, allowed))) return [];
    return `${name}: ${JSON.stringify(license)}${isTool ? '' : ', deployed'}`;
  });
}

/** Reads expressions of one operator, which are all that packages have: `MIT`, `(MIT OR GPL-3.0)`, `MIT AND Zlib`. */
function isAllowed(expression: string, allowed: readonly string[]): boolean {
  const plain = expression.replace(/^\((.*)\)$/, '$1');
  const alternatives = plain.split(' OR ');
  if (alternatives.length > 1) return alternatives.some((licence) => allowed.includes(licence));
  return plain.split(' AND ').every((licence) => allowed.includes(licence));
}
