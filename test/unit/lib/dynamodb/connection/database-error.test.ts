import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { interpretDatabaseError } from '../../../../../lib/dynamodb/connection/database-error.ts';
import {
  AttemptError,
  ConditionFailedError,
  InvalidRequestError,
  ItemTooLargeError,
  StorageUnavailableError,
} from '../../../../../lib/dynamodb/connection/errors.ts';

const named = (name: string, message: string, members = {}) => Object.assign(new Error(message), { name, ...members });
const withStatus = (httpStatusCode: number) => ({ $metadata: { httpStatusCode } });

test('a ValidationException is a bug of ours, and what it may quote is left out', () => {
  const message = 'The provided key element does not match the schema';
  expect(interpretDatabaseError(named('ValidationException', message))).toEqual(
    new InvalidRequestError(`DynamoDB refused the request as invalid: ${message}`),
  );
  for (const quoted of [`: "Emma"`, ` 'Emma'`, ` {S: Emma}`, ` [Emma]`]) {
    const interpreted = interpretDatabaseError(named('ValidationException', `Invalid value${quoted}`));
    expect(interpreted.message.trim()).toBe('DynamoDB refused the request as invalid: Invalid value');
    expect(interpreted.cause).toBeUndefined();
  }
});

test('a ValidationException about the size of an item is an item that is too large', () => {
  for (const message of ['Item size has exceeded the maximum', 'Item size to update has exceeded']) {
    const cause = named('ValidationException', message);
    const interpreted = interpretDatabaseError(cause);
    expect(interpreted).toBeInstanceOf(ItemTooLargeError);
    expect(interpreted.cause).toBe(cause);
  }
});

test('an attempt of which nothing else is known may have been carried out, and its error stays as it is', () => {
  const error = new AttemptError('x');

  expect(error.mayBeDone).toBe(true);
  expect(interpretDatabaseError(error)).toBe(error);
});

test.each([
  ['the item', { year: { N: '1815' } }, { year: 1815 }],
  ['no item where none was returned', undefined, undefined],
  ['no item with a number that the SDK cannot read', { year: { N: '9007199254740993.5' } }, undefined],
])('a failed condition has %s', (_name, Item, stored) => {
  const item = Item && { Item };
  const failed = new ConditionalCheckFailedException({ message: '', $metadata: {}, ...item });
  const reasons = [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }, { Code: 'ConditionalCheckFailed', ...item }];
  const inTransaction = named('TransactionCanceledException', 'canceled', { CancellationReasons: reasons });

  for (const error of [failed, inTransaction]) {
    const interpreted = interpretDatabaseError(error);
    expect(interpreted).toMatchObject({
      name: 'ConditionFailedError',
      message: 'the condition of a request does not hold',
    });
    expect((interpreted as ConditionFailedError).stored).toEqual(stored);
  }
});

test.each([
  ['', { code: 'ECONNREFUSED' }, 'ECONNREFUSED'],
  ['', {}, ''],
  ['why', { code: 'ECONNREFUSED' }, 'why'],
])('the log has the message of an error, or else its code: %j %j', (message, members, reason) => {
  expect(interpretDatabaseError(named('TheError', message, members)).message).toBe(
    `DynamoDB failed: TheError: ${reason}`,
  );
});

const canceled = (...codes: string[]) =>
  named('TransactionCanceledException', 'canceled', {
    ...withStatus(400),
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

test('a transaction is refused when its conditions alone were in its way', () => {
  for (const codes of [
    ['ConditionalCheckFailed', 'None'],
    ['None', 'ConditionalCheckFailed'],
    ['ConditionalCheckFailed', 'ConditionalCheckFailed'],
  ]) {
    expect(interpretDatabaseError(canceled(...codes))).toBeInstanceOf(ConditionFailedError);
  }
});

test('a transaction that met a conflict as well is sent again', () => {
  for (const codes of [
    ['TransactionConflict', 'ConditionalCheckFailed'],
    ['ConditionalCheckFailed', 'ThrottlingError'],
    ['TransactionConflict', 'None'],
    ['None', 'None'],
    [],
  ]) {
    expect(interpretDatabaseError(canceled(...codes))).toMatchObject({ name: 'AttemptError', mayBeDone: false });
  }
});

test.each([
  ['ThrottlingException', withStatus(400), false],
  ['ProvisionedThroughputExceededException', withStatus(400), false],
  ['TransactionConflictException', withStatus(400), false],
  ['InvalidSignatureException', { $metadata: { httpStatusCode: 400, clockSkewCorrected: true } }, false],
  // The request has arrived before, and may be carried out now.
  ['TransactionInProgressException', withStatus(400), true],
  // What the SDK makes of a refusal that does not say why.
  ['Unknown', withStatus(400), true],
  ['InternalServerError', withStatus(500), true],
  // With a clock that is minutes wrong, the SDK marks every error.
  ['InternalServerError', { $metadata: { httpStatusCode: 500, clockSkewCorrected: true } }, true],
  // A success that it cannot read.
  ['TypeError', { $metadata: { httpStatusCode: 200, clockSkewCorrected: true } }, true],
  ['ServiceUnavailable', withStatus(503), true],
  ['RequestTimeout', withStatus(408), true],
  ['Error', { code: 'ECONNRESET' }, true],
  ['AbortError', {}, true],
])('another attempt may succeed after %s %j; whether it may have been carried out: %s', (name, members, mayBeDone) => {
  const error = named(name, 'size exceeded', members);

  expect(interpretDatabaseError(error)).toMatchObject({
    name: 'AttemptError',
    mayBeDone,
    cause: error,
    message: `DynamoDB failed: ${name}: size exceeded`,
  });
});

test.each(['ResourceNotFoundException', 'AccessDeniedException'])('no attempt succeeds after %s', (name) => {
  const cause = named(name, 'why', withStatus(400));

  const expected = new StorageUnavailableError(`DynamoDB failed: ${name}: why`, { cause });
  expect(interpretDatabaseError(cause)).toEqual(expected);
});

test('nothing of a response that is not JSON is quoted', () => {
  const interpreted = interpretDatabaseError(named('SyntaxError', '"Emma"... is not valid JSON'));

  expect(interpreted).toMatchObject({ mayBeDone: true, message: 'DynamoDB failed: its response is not JSON' });
  expect(interpreted.cause).toBeUndefined();
});

test.each([undefined, null, 'text', 42])('the thrown value %j is an unavailable storage', (cause) => {
  expect(interpretDatabaseError(cause)).toEqual(new StorageUnavailableError('DynamoDB failed', { cause }));
});
