import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { collectCases } from './case.ts';

/** The names of the files in cases/, each of which is a group of cases. */
export const groupNames = readdirSync(join(import.meta.dirname, 'cases')).map((file) => basename(file, '.ts'));

/** Every case, group after group. */
export const conformanceCases = (await Promise.all(groupNames.map(loadCases))).flat();

async function loadCases(group: string) {
  const { default: addCases } = await import(`./cases/${group}.ts`);
  return collectCases(group, addCases);
}
