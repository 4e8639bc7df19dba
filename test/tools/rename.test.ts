import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const contributing = readFileSync('CONTRIBUTING.md', 'utf8');
const [, remove, unset] = /come off.*\| `(.*?)` \| `(.*?)` \|$/m.exec(contributing) ?? [];
const takePartsOff = Array.from(
  contributing.matchAll(/ \| `(\S+)` \| `(scripts\S+)` \|$/gm),
  ([, files, script]) => `${remove} ${files} && ${unset} ${script} && `,
).join('');

test('a copy with a field of its own takes the next version without a conflict, and is then like a new copy of it', async () => {
  const folder = await makeTemporaryFolder();
  const upstream = join(folder, 'upstream');
  const files = run('.', 'git ls-files -co --exclude-standard').trim().split('\n');
  for (const path of files.filter(existsSync)) cpSync(path, join(upstream, path));
  run(upstream, 'git init -q -b main && git add -A && git commit -qm "Version 1.0.0"');
  const copy = makeCopy(folder, 'copy');

  edit(join(upstream, 'lib/books/book.ts'), (text) => `${text}\nexport type Title = Book['title'];\n`);
  cpSync(join(upstream, 'handlers/get-book.ts'), join(upstream, 'handlers/find-book.ts'));
  rmSync(join(upstream, 'handlers/delete-book.ts'));
  run(upstream, 'git add -A && git commit -qm "Version 1.1.0" && git tag v1.1.0');
  run(copy, commandsOf('Take a new version').replace('npm ci', `${takePartsOff}npm ci`));

  const merged = run(copy, 'git ls-tree -r HEAD');
  expect(merged).toBe(run(makeCopy(folder, 'new-copy'), 'git ls-tree -r HEAD'));
  expect(merged).toContain('handlers/find-recipe.ts');
  expect(merged).not.toContain('handlers/delete-recipe.ts');
  expect(readFileSync(join(copy, 'lib/recipes/recipe.ts'), 'utf8')).toMatch(/ vegan: .* Name = Recipe\['name'\]/s);
});

/** Makes a copy as CONTRIBUTING.md says, and adds a field. */
function makeCopy(folder: string, name: string): string {
  const copy = join(folder, name);
  run(folder, `git clone -q upstream ${name}`);
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  run(copy, takePartsOff + commandsOf('Make it your own'));
  edit(join(copy, 'lib/recipes/recipe.ts'), (text) =>
    text.replace(/duration: .*\n/, "$&  vegan: { type: 'boolean', default: false },\n"),
  );
  run(copy, 'git commit -qam "A field"');
  return copy;
}

/** The commands in a section of CONTRIBUTING.md. They are indented further than text. */
function commandsOf(heading: string): string {
  const [, section = ''] = new RegExp(`\n#+ ${heading}\n(.*?)\n#`, 's').exec(contributing) ?? [];
  return section.match(/^ {4,}.*/gm)?.join('\n') ?? '';
}

function run(folder: string, commands: string): string {
  const names = {
    GIT_AUTHOR_NAME: 'test',
    GIT_AUTHOR_EMAIL: 'test',
    GIT_COMMITTER_NAME: 'test',
    GIT_COMMITTER_EMAIL: 'test',
  };
  const env = { ...process.env, ...names, GIT_CONFIG_GLOBAL: '/dev/null' };
  // The packages are there.
  const script = `npm() { [ "$1" = ci ] || command npm "$@"; }\n${commands}`;
  return execFileSync('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env, encoding: 'utf8' });
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}
