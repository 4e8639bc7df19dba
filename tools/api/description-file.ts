import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { describeSchemas } from './schemas.ts';

/** The description of the service for its clients, in OpenAPI 3.1. */
const descriptionFile = resolve(import.meta.dirname, '../../openapi.yaml');

const generatedPart = /^(?<indent> +)# <generated>\n.*^ +# <\/generated>\n/ms;

/** Wide enough for every text in it. */
const lineWidth = 120;

/**
 * Reads openapi.yaml and writes its generated part anew.
 *
 * @returns the text as it is, and as it should be
 * @throws an Error when the comments that enclose the generated part are missing
 */
export async function readDescription(): Promise<{ readonly text: string; readonly current: string }> {
  const text = await readFile(descriptionFile, 'utf8');
  const indent = generatedPart.exec(text)?.groups?.indent;
  if (indent === undefined) throw new Error('openapi.yaml has no comments <generated> and </generated>');
  const schemas = stringify(describeSchemas(), { lineWidth, aliasDuplicateObjects: false });
  const lines = `# <generated>\n${schemas}# </generated>\n`.replace(/^(?=.)/gm, indent);
  return { text, current: text.replace(generatedPart, () => lines) };
}
