import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { publicEndpoint } from '../../../lib/endpoint.ts';
import { HttpError, outcomes } from '../../../lib/http/outcomes.ts';
import { captureLog } from '../../support/captured-log.ts';
import { createContext, createEvent } from '../../support/load-handlers.ts';

/** The names that docs/operations.md gives to the members of log lines. */
const [, section = ''] = /\n## Logs\n(.*?)\n## /s.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
const [ofFunctions = '', ofGateway = ''] = section.split('A line of the access log');
const namesIn = (text: string): readonly string[] => text.match(/(?<=`)[a-z]\w*(?=`)/g) ?? [];

test('docs/operations.md names each member of the log line of a function', async () => {
  const log = captureLog();
  const errors = [
    new HttpError(outcomes.invalidInput, { reason: 'year' }),
    new HttpError(outcomes.invalidToken, { cause: Object.assign(new Error(), { code: 'ERR_JWT_EXPIRED' }) }),
    new HttpError(outcomes.serviceUnavailable, { cause: new Error() }),
  ];
  for (const error of errors) {
    const handler = publicEndpoint({ corsOrigin: undefined }, { status: 200, message: '' }, () =>
      Promise.reject(error),
    );
    await handler(createEvent({}), createContext());
  }
  const members = new Set(log.lines.flatMap(Object.keys));

  expect([...members]).toEqual(expect.arrayContaining(['status', 'reason', 'error']));
  expect([...members].filter((name) => !namesIn(ofFunctions).includes(name))).toEqual([]);
});

test('docs/operations.md names each member of the access log', () => {
  const { Resources } = parse(readFileSync('serverless/resources/stage.yml', 'utf8'), { logLevel: 'silent' });
  const members = Object.keys(JSON.parse(Resources.ApiGatewayStage.Properties.AccessLogSetting.Format));

  expect(members.length).toBeGreaterThan(10);
  expect(members.filter((name) => !namesIn(ofGateway).includes(name))).toEqual([]);
});
