import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';

const serverlessYml = readFileSync(resolve(import.meta.dirname, '../../serverless.yml'), 'utf8');

/** The NODE_OPTIONS that the list function is deployed with, which bound its memory. */
export const listNodeOptions: string = parse(serverlessYml, { logLevel: 'silent' }).functions.listBooks
  .environment.NODE_OPTIONS;
