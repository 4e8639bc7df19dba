import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { writeLog } from '../../../../lib/log/write-log.ts';
import { type CapturedLog, captureLog } from '../../../support/captured-log.ts';

let log: CapturedLog;

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-21T10:20:30.456Z') });
  log = captureLog();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('writeLog', () => {
  test('a message is one line of JSON with time and level', () => {
    writeLog('WARN', 'something');

    expect(log.text).toBe('{"timestamp":"2026-11-21T10:20:30.456Z","level":"WARN","message":"something"}\n');
  });

  test('fields follow the message, line breaks in them make no second line', () => {
    writeLog('INFO', 'request', { route: 'GET /books\nfake line', status: 200, missing: undefined });

    expect(log.text.match(/\n/g)).toHaveLength(1);
    expect(log.lines).toEqual([
      {
        timestamp: '2026-11-21T10:20:30.456Z',
        level: 'INFO',
        message: 'request',
        route: 'GET /books\nfake line',
        status: 200,
      },
    ]);
  });

  test('an error is written with its name, message, stack and the whole chain of causes', () => {
    const root = new TypeError('root');
    const error = new Error('outer', { cause: new Error('middle', { cause: root }) });

    writeLog('ERROR', 'request', { error });

    expect(log.lines[0]?.error).toEqual({
      name: 'Error',
      message: 'outer',
      stack: error.stack,
      cause: {
        name: 'Error',
        message: 'middle',
        stack: (error.cause as Error).stack,
        cause: { name: 'TypeError', message: 'root', stack: root.stack },
      },
    });
  });

  test('other properties of an error, such as the SDK’s request, are not written', () => {
    const error = Object.assign(new Error('failed'), { $response: { body: 'confidential' } });

    writeLog('ERROR', 'request', { error });

    expect(log.text).not.toContain('confidential');
  });

  // JSON.stringify throws at each of these, and a log that throws would take the answer with it.
  test('an error whose cause leads back to itself is written all the same', () => {
    const error = new Error('loop');
    error.cause = new Error('inner', { cause: error });

    writeLog('ERROR', 'request', { error });

    expect(log.lines).toMatchObject([{ message: 'request' }]);
  });

  test('an error whose cause is an object that refers to itself is written all the same', () => {
    const cause: { self?: object } = {};
    cause.self = cause;

    writeLog('ERROR', 'request', { error: new Error('loop', { cause }) });

    expect(log.lines).toMatchObject([{ message: 'request' }]);
  });

  test('an error whose cause is a bigint is written all the same', () => {
    writeLog('ERROR', 'request', { error: new Error('big', { cause: 1n }) });

    expect(log.lines).toMatchObject([{ message: 'request' }]);
  });
});
