import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { EmulatedStage } from './emulated-stage.ts';

const open = 401; // the requests have no token
const throttled = 429;
const denied = 403;

/** The blocks of commands in "Stop it now": what is stopped, and the statuses of three requests meanwhile. */
const stops = [
  { title: 'The whole API', statuses: [throttled, throttled, throttled] },
  { title: 'One method', statuses: [open, throttled, open] },
  { title: 'One address', statuses: [denied, denied, denied] },
] as const;

/** Runs the commands of "Stop it now" in docs/incidents.md and sends requests. */
export async function stopAndGoOn({ runShell, readStatus }: EmulatedStage): Promise<void> {
  const document = readFileSync('docs/incidents.md', 'utf8').replaceAll('203.0.113.7', '127.0.0.1');
  const [, section = ''] = /\n## Stop it now\n(.*?)\n## /s.exec(document) ?? [];
  const [setup = '', ...blocks] = section.match(/(?<=\n\n)(?: {4}.*\n)+/g) ?? [];
  assert.equal(blocks.length, stops.length);
  const readStatuses = async () => [
    await readStatus('GET', '/books'),
    await readStatus('POST', '/book'),
    await readStatus('GET', '/book/1'),
  ];

  for (const [index, { title, statuses }] of stops.entries()) {
    const [stop = '', undo = ''] = (blocks[index] ?? '').split('# Undo:\n');
    await runShell(`${setup}\n${stop}`);
    assert.deepEqual(await readStatuses(), statuses, title);
    await runShell(`${setup}\n${undo}`);
    assert.deepEqual(await readStatuses(), [open, open, open], `${title}, undone`);
  }
}
