/** `node .ci/security/licences.ts LOCK_FILE...`: names packages under other licences; exit code 1 when there are any. */

import { readFileSync } from 'node:fs';

/** A package-lock.json of version 2 or 3; only tools need packages that it marks as `dev` or `devOptional`. */
interface LockFile {
  readonly packages: Readonly<Record<string, { license?: unknown; dev?: boolean; devOptional?: boolean }>>;
}

/** May be deployed: they ask for no more than that their text goes along. */
const permissive = '0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT Zlib'.split(' ');

/** May be in tools, which are used and never passed on. */
const forTools = [
  ...permissive,
  ...'Artistic-2.0 CC-BY-3.0 MIT-0 MPL-2.0 PSF-2.0 Python-2.0 Unlicense WTFPL'.split(' '),
];

for (const file of process.argv.slice(2)) {
  const { packages }: LockFile = JSON.parse(readFileSync(file, 'utf8'));
  for (const [path, { license, dev, devOptional }] of Object.entries(packages)) {
    const name = path.replace(/^.*node_modules\//, '');
    const isDeployed = file === 'package-lock.json' && !dev && !devOptional;
    const allowed = isDeployed ? permissive : forTools;
    // All expressions that packages have: `MIT`, `MIT OR GPL-3.0`, `(MIT OR GPL-3.0)`.
    const alternatives = String(license)
      .replace(/^\((.*)\)$/, '$1')
      .split(' OR ');
    if (path === '' || alternatives.some((alternative) => allowed.includes(alternative))) continue;
    console.log(`${file}: ${name}: ${JSON.stringify(license ?? null)}${isDeployed ? ', deployed' : ''}`);
    process.exitCode = 1;
  }
}
