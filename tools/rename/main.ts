import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { endWithAdvice, parseOptions } from '../parse-options.ts';

const usage = `Usage: npm run rename -- RESOURCE=NAME [FIELD=NAME]...

Renames the resource and its fields in the files of a copy (CONTRIBUTING.md, "Make it your own").

  --help  show this text`;

/** Where the name of a field means the field. Elsewhere, a title may be that of a page. */
const hasFields = (path: string) => /^(README|\.ci|conformance|docs|lib|test|tools)\b(?!.*\.json$)/.test(path);

const { positionals } = parseOptions(usage, {}, true);
const [resource = endWithAdvice('The resource is missing'), ...fields] = positionals.map((argument) => {
  const [, old, name] = /^([a-z]+)=([a-z][a-zA-Z]*)$/.exec(argument) ?? [];
  return old && name ? { old, name } : endWithAdvice(`${argument} has to be a word, = and its new name`);
});

for (const path of list('grep', '-Il', '')) {
  const text = readFileSync(path, 'utf8');
  const rename = hasFields(path) ? (line: string) => renameFields(renameResource(line)) : renameResource;
  // The manual of this command stays as it is: the next version takes the same arguments.
  const lines = text.split('\n').map((line) => (line.includes('npm run rename') ? line : rename(line)));
  if (lines.join('\n') !== text) writeFileSync(path, lines.join('\n'));
}
for (const path of list('ls-files')) {
  const renamed = renameResource(path);
  if (renamed === path) continue;
  mkdirSync(dirname(renamed), { recursive: true });
  execFileSync('git', ['mv', path, renamed]);
}
// Imports have another order, and lines another length.
spawnSync('biome', ['check', '--write', '--linter-enabled=false'], { stdio: 'inherit' });
spawnSync('npm', ['run', 'openapi'], { stdio: 'inherit' });

/** Also within words, such as `createBook`. */
function renameResource(text: string): string {
  return replaceForms(text, resource, (form) => form);
}

/** Words only, also in the plural, and behind the `\n` or `\t` of a sample. */
function renameFields(text: string): string {
  const toPattern = (form: string) => `(?<=\\b|\\\\[nt])${form}(?=s?\\b)`;
  return fields.reduce((renamed, field) => replaceForms(renamed, field, toPattern), text);
}

/** Replaces a word in three forms: `book`, `Book` and `BOOK`. */
function replaceForms(
  text: string,
  { old, name }: { readonly old: string; readonly name: string },
  toPattern: (form: string) => string,
): string {
  const capitalize = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  return text
    .replaceAll(new RegExp(toPattern(old), 'g'), name)
    .replaceAll(new RegExp(toPattern(capitalize(old)), 'g'), capitalize(name))
    .replaceAll(new RegExp(toPattern(old.toUpperCase()), 'g'), name.toUpperCase());
}

function list(...command: readonly string[]): readonly string[] {
  return execFileSync('git', command, { encoding: 'utf8' }).split('\n').slice(0, -1);
}
