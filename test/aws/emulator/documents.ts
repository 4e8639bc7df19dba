import { readFileSync } from 'node:fs';

/** @returns the blocks of commands in a section of a page in docs/, up to the next heading */
export function findBlocks(page: string, title: string): readonly string[] {
  const text = readFileSync(`docs/${page}.md`, 'utf8');
  const [, section = ''] = new RegExp(`\\n##+ ${title}\\n(.*?)(?=\\n##|$)`, 's').exec(text) ?? [];
  return section.match(/(?<=\n\n)(?: {4}.*\n)+/g) ?? [];
}
