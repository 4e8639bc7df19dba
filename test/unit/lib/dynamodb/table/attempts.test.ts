import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  AttemptError,
  ConditionFailedError,
  InvalidRequestError,
  ItemTooLargeError,
  OutcomeUnknownError,
  StorageUnavailableError,
} from '../../../../../lib/dynamodb/connection/errors.ts';
import { Attempts, pauseAfter } from '../../../../../lib/dynamodb/table/attempts.ts';
import { invocationSignal } from '../../../../../lib/invocation-signal.ts';

// The unit tests share their modules, so that another file may have loaded the module under test with the real timers.
vi.hoisted(() => vi.resetModules());
vi.mock(import('node:timers/promises'), { spy: true });

let attempts: Attempts;
/** What happened, in this order. */
let events: string[];

beforeEach(() => {
  attempts = new Attempts();
  events = [];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(Math, 'random').mockReturnValue(1);
  vi.mocked(sleep).mockImplementation(async (delayMs) => {
    events.push(`pause of ${delayMs} ms`);
    return undefined as never;
  });
});

afterEach(() => {
  expect(vi.getTimerCount(), 'timers that are left over').toBe(0);
  vi.useRealTimers();
});

const outcomes = {
  lost: () => new AttemptError('no response', { mayBeDone: true }),
  failed: () => new AttemptError('not sent', { mayBeDone: false }),
  refused: () => new ConditionFailedError(),
  invalid: () => new InvalidRequestError(),
  'too large': () => new ItemTooLargeError(),
};

/** Makes attempts that end in turn as given, and then succeed. */
function sending(...endings: readonly (keyof typeof outcomes)[]) {
  const left = [...endings];
  return async () => {
    const ending = left.shift();
    events.push(ending ?? 'done');
    if (ending) throw outcomes[ending]();
    return 'the value';
  };
}

describe('attempts at a read', () => {
  test('after two failures, the third attempt may succeed, and the delay doubles', async () => {
    expect(await attempts.read(sending('lost', 'failed'))).toBe('the value');

    expect(events).toEqual(['lost', 'pause of 100 ms', 'failed', 'pause of 200 ms', 'done']);
  });

  test.each(['lost', 'failed', 'refused'] as const)(
    'the third failure is an unavailable storage, without another delay: %s',
    async (ending) => {
      const cause = outcomes[ending]();
      const repeating = attempts.read(sending(ending, ending, ending));

      await expect(repeating).rejects.toEqual(new StorageUnavailableError(cause.message, { cause }));
      expect(events).toEqual([ending, 'pause of 100 ms', ending, 'pause of 200 ms', ending]);
    },
  );

  test('a delay is random', async () => {
    vi.mocked(Math.random).mockReturnValue(0.25);

    await attempts.read(sending('lost'));

    expect(events).toEqual(['lost', 'pause of 25 ms', 'done']);
  });

  test('an error that no further attempt mends ends them', async () => {
    await expect(attempts.read(sending('invalid'))).rejects.toThrow(InvalidRequestError);

    expect(events).toEqual(['invalid']);
  });
});

describe('attempts at a write', () => {
  const cause = outcomes.lost();
  const lost = new OutcomeUnknownError(cause.message, { cause });

  test('those that fail are made again, lost ones too', async () => {
    expect(await attempts.write(sending('failed', 'lost'))).toEqual({ value: 'the value' });
    expect(events).toEqual(['failed', 'pause of 100 ms', 'lost', 'pause of 200 ms', 'done']);
  });

  test('the third failure ends them, without another delay', async () => {
    const cause = outcomes.failed();
    const failing = attempts.write(sending('failed', 'failed', 'failed'));

    await expect(failing).rejects.toEqual(new StorageUnavailableError(cause.message, { cause }));
    expect(events).toEqual(['failed', 'pause of 100 ms', 'failed', 'pause of 200 ms', 'failed']);
  });

  test('a lost one may have been carried out, also when the last one is not', async () => {
    expect(await attempts.write(sending('lost', 'failed', 'failed'))).toEqual({ lost });
    expect(await attempts.write(sending('failed', 'failed', 'lost'))).toEqual({ lost });
  });

  test('a refusal ends them at once', async () => {
    expect(await attempts.write(sending('refused'))).toEqual({ refusal: outcomes.refused() });
    const outcome = await attempts.write(sending('lost', 'refused'));
    expect(outcome).toEqual({ refusal: outcomes.refused(), lost });
    await expect(attempts.write(sending('too large'))).rejects.toThrow(ItemTooLargeError);
  });

  test('the delays after refusals end at 1.6 s', async () => {
    for (const refusals of [1, 4, 5, 6]) await pauseAfter(refusals);
    expect(events).toEqual([100, 800, 1_600, 1_600].map((delayMs) => `pause of ${delayMs} ms`));
  });
});

describe('the time of an attempt', () => {
  const signals: AbortSignal[] = [];
  const hang = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<never>(() => {});
  };

  beforeEach(() => {
    signals.length = 0;
  });

  test('is 2.8 s, after which it may have been carried out', async () => {
    const ended = vi.fn();
    const writing = attempts.write(hang).then(ended);
    await vi.advanceTimersByTimeAsync(2_799);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);

    await vi.advanceTimersByTimeAsync(1 + 2 * 2_800);

    await writing;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    expect(ended.mock.calls[0]?.[0].lost.message).toBe('no response within 2800 ms');
  });

  test('begins with its turn, of which there are eight', async () => {
    const reading = Array.from({ length: 9 }, () => attempts.read(hang).catch(() => {}));
    await vi.advanceTimersByTimeAsync(2_799);
    expect(signals).toHaveLength(8);

    await vi.advanceTimersByTimeAsync(1);

    expect(signals[8]?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(6 * 2_800);
    await Promise.all(reading);
  });

  test('ends with its invocation, and no other attempt follows', async () => {
    const invocation = new AbortController();
    const during = (send: (signal: AbortSignal) => Promise<string>) =>
      invocationSignal.run(invocation.signal, () => attempts.read(send));
    expect(await during(sending())).toBe('the value');
    expect(getEventListeners(invocation.signal, 'abort')).toEqual([]);

    const ended = expect(during(hang)).rejects.toThrow(new StorageUnavailableError('the invocation is over'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(signals).toHaveLength(1);
    invocation.abort();
    await ended;

    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(getEventListeners(invocation.signal, 'abort')).toEqual([]);
    await expect(during(sending())).rejects.toThrow('the invocation is over');
    expect(events.filter((event) => event === 'done')).toHaveLength(1);
  });
});
