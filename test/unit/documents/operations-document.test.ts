import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { endpoints } from '../../../serverless/functions.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const pages = ['deployment', 'operations', 'incidents'].map((page) => read(`docs/${page}.md`));
const { default: shared, prod } = parse(read('serverless/stages.yml'));
const [, stopItNow = ''] = /\n## Stop it now\n(.*?)\n## /s.exec(read('docs/incidents.md')) ?? [];

test.each(['smoke', 'restore'])('the pages for operators use npm run %s with options that it has', (script) => {
  const { stdout: help } = spawnSync(process.execPath, [`tools/operations/${script}.ts`, '--help'], {
    encoding: 'utf8',
  });
  const commands = pages.join().match(new RegExp(`npm run ${script} -- .*`, 'g')) ?? [];
  const options = commands.flatMap((command) => command.match(/ --[a-z-]+/g) ?? []);

  expect(commands.length).toBeGreaterThan(1);
  expect(options.filter((option) => !help.includes(option))).toEqual([]);
});

test('the queries of a bad day read the log of every function that serves requests', () => {
  const [, names = ''] = /\/aws\/lambda\/\$STACK-\{(.*?)\}/.exec(read('docs/incidents.md')) ?? [];

  expect(names.split(',').toSorted()).toEqual(endpoints.map(({ name }) => name).toSorted());
});

test('"Stop it now" undoes the limits of the API to those of a deploy', () => {
  const { throttlingRateLimit, throttlingBurstLimit, tokenThrottlingRateLimit, tokenThrottlingBurstLimit } = {
    ...shared,
    ...prod,
  };
  const undo = [
    `limit '*/*' ${throttlingRateLimit} ${throttlingBurstLimit}`,
    `limit '~1token/POST' ${tokenThrottlingRateLimit} ${tokenThrottlingBurstLimit}`,
  ];

  expect(stopItNow).toContain(`# Undo:\n    ${undo.join('; ')}\n`);
});

test('"Stop it now" names no method that the API has not', () => {
  const methods = [...stopItNow.matchAll(/(~1[a-z~1{}]+)\/([A-Z]+)/g)];
  const routes = methods.map(([, path, method]) => `${method} ${path?.replaceAll('~1', '/')}`);
  const known = endpoints.map(({ event: { method, path } }) => `${method} ${path}`);

  expect(routes.length).toBeGreaterThan(3);
  expect(routes.filter((route) => !known.includes(route))).toEqual([]);
});
