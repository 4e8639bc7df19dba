import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { endpoints } from '../../../serverless/functions.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const pages = ['deployment', 'operations', 'incidents'].map((page) => read(`docs/${page}.md`));
const { default: shared, prod } = parse(read('serverless/stages.yml'));
const [, stopItNow = ''] = /\n## Stop it now\n(.*?)\n## /s.exec(read('docs/incidents.md')) ?? [];

test.each(['smoke', 'restore', 'counter'])(
  'the pages for operators use npm run %s with options that it has',
  (script) => {
    const { stdout: help } = spawnSync(process.execPath, [`tools/operations/${script}.ts`, '--help'], {
      encoding: 'utf8',
    });
    const commands = pages.join().match(new RegExp(`npm run ${script} -- .*`, 'g')) ?? [];
    const options = commands.flatMap((command) => command.match(/ --[a-z-]+/g) ?? []);

    expect(commands.length).toBeGreaterThan(1);
    expect(options.filter((option) => !help.includes(option))).toEqual([]);
  },
);

/** Actions of the role of whoever is on call whose names no command and no source has, and what takes them. */
const withOtherNames: Readonly<Record<string, string>> = {
  'apigateway:PATCH': 'aws apigateway update-stage',
  'apigateway:POST': 'aws apigateway create-deployment',
  'apigateway:UpdateRestApiPolicy': 'aws apigateway update-rest-api',
  'cloudwatch:GetDashboard': 'on the dashboard',
  'cloudwatch:GetMetricData': 'on the dashboard',
  'dynamodb:BatchWriteItem': 'aws dynamodb restore-table-to-point-in-time',
  'dynamodb:DeleteItem': 'aws dynamodb restore-table-to-point-in-time',
  's3:ListBucket': 'npm run rollback -- --stage prod',
};

test('the role of whoever is on call has no right that the pages and their commands do not use', () => {
  const { Resources } = parse(read('serverless/resources/deployer.yml'), { logLevel: 'silent' });
  const statements: readonly { readonly Effect: string; readonly Action: string | string[] }[] =
    Resources.OnCallPolicy.Properties.PolicyDocument.Statement;
  const actions = statements.flatMap(({ Effect, Action }) => (Effect === 'Allow' ? Action : []));
  const sources = globSync(['tools/operations/*.ts', 'serverless/deploy/*.ts']).map(read).join();
  const isUsed = (action: string) => {
    const name = action.replace(/.*:/, '');
    const command = name.replaceAll(/(?<=.)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
    const other = withOtherNames[action];
    if (other !== undefined) return pages.join().includes(other);
    return pages.join().includes(` ${command} `) || new RegExp(`\\b(paginate)?${name}\\b`, 'i').test(sources);
  };

  expect(actions.length).toBeGreaterThan(30);
  expect(actions.filter((action) => action.includes('*') || !isUsed(action))).toEqual([]);
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
