import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 } from 'uuid';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { VersionMismatchError } from '../../../../../lib/books/errors.ts';
import {
  AttemptError,
  ConditionFailedError,
  InvalidRequestError,
  ItemTooLargeError,
  StorageUnavailableError,
} from '../../../../../lib/dynamodb/connection/errors.ts';
import { Attempts } from '../../../../../lib/dynamodb/table/attempts.ts';
import { Write } from '../../../../../lib/dynamodb/table/write.ts';
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

type Sending = (version: string, abortSignal: AbortSignal) => Promise<string>;

/** Finds out what became of a write: its result, or the version that is stored. */
type Look = (write: Write, refusal?: ConditionFailedError) => Promise<{ result?: string; seenVersion?: string }>;

/** Makes attempts at a write until its outcome is known. */
async function carryOut({ send, look, seenVersion }: { send: Sending; look: Look; seenVersion?: string | undefined }) {
  const write = new Write(attempts, seenVersion);
  for (;;) {
    const { value, refusal } = await write.attempt(send);
    if (value !== undefined) return value;
    const { result, seenVersion } = await attempts.read(() => look(write, refusal));
    if (result !== undefined) return result;
    write.seen = seenVersion;
  }
}

/** Makes a write whose stored outcome is that of others, unless `find` finds a result. */
function writing(
  endings: readonly (keyof typeof outcomes)[],
  find: () => Awaited<ReturnType<Look>> = () => ({}),
  seenVersion?: string,
) {
  const versions: string[] = [];
  const send = sending(...endings);
  return {
    versions,
    seenVersion,
    send: (version: string) => {
      versions.push(version);
      return send();
    },
    look: async ({ sent, lost }: Write, refusal?: ConditionFailedError) => {
      expect(sent).toEqual(versions);
      const places = lost.map((version) => versions.indexOf(version));
      events.push(`look for [${places}]${refusal ? ' after a refusal' : ''}`);
      return find();
    },
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
  test('only lost ones are looked for; failed ones are sent again', async () => {
    await carryOut(writing(['failed', 'lost']));
    expect(events).toEqual(['failed', 'pause of 100 ms', 'lost', 'pause of 200 ms', 'look for [1]', 'done']);

    events = [];
    await carryOut(writing(['lost', 'refused', 'failed']));
    expect(events.filter((event) => !event.startsWith('pause'))).toEqual([
      'lost',
      'look for [0]',
      'refused',
      'look for [0] after a refusal',
      'failed',
      'look for [0]',
      'done',
    ]);
  });

  test('the third failure is an unavailable storage, without another delay', async () => {
    const writingInVain = carryOut(writing(['failed', 'lost', 'failed']));

    const cause = outcomes.failed();
    await expect(writingInVain).rejects.toEqual(new StorageUnavailableError(cause.message, { cause }));
    const first = ['failed', 'pause of 100 ms'];
    const second = ['lost', 'pause of 200 ms', 'look for [1]'];
    expect(events).toEqual([...first, ...second, 'failed', 'look for [1]']);
  });

  test('refusals are not counted, are looked up at once, and their delay ends at 1.6 s', async () => {
    const refusals = Array<'refused'>(7).fill('refused');

    expect(await carryOut(writing(['lost', 'failed', ...refusals]))).toBe('the value');

    const failed = ['lost', 'pause of 100 ms', 'look for [0]', 'failed', 'pause of 200 ms', 'look for [0]'];
    const delays = [400, 800, 1_600, 1_600, 1_600, 1_600, 1_600];
    const refused = delays.flatMap((delayMs) => ['refused', 'look for [0] after a refusal', `pause of ${delayMs} ms`]);
    expect(events).toEqual([...failed, ...refused, 'done']);
  });

  test.each(['lost', 'refused'] as const)(
    'a failure of the look after one that is %s is an unavailable storage',
    async (ending) => {
      const fail = () => {
        throw outcomes.failed();
      };

      await expect(carryOut(writing([ending], fail))).rejects.toThrow(StorageUnavailableError);
    },
  );

  test('what is found is the result, after the third failure, too', async () => {
    expect(await carryOut(writing(['refused'], () => ({ result: 'found' })))).toBe('found');
    expect(await carryOut(writing(['lost'], () => ({ result: 'found' })))).toBe('found');
    expect(await carryOut(writing(['failed', 'failed', 'lost'], () => ({ result: 'found' })))).toBe('found');
  });

  test('their versions ascend from the seen version, whatever the clock says', async () => {
    const now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now);
    const seenVersion = v7({ msecs: now + 60_000 });
    const lookAgain = () => {
      clock.mockReturnValue(now - 3_600_000);
      return { seenVersion };
    };
    const write = writing(['lost', 'lost'], lookAgain, seenVersion);

    await carryOut(write);

    const versions = [seenVersion, ...write.versions];
    expect(versions).toHaveLength(4);
    expect(versions.toSorted()).toEqual(versions);
    expect(new Set(versions).size).toBe(4);
  });

  test('after a refusal, they go on with the clock of the version that refused them', async () => {
    const now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now);
    const hourMs = 3_600_000;
    const aheadMs = [hourMs, hourMs, 60_000];
    const write = writing(['refused', 'lost', 'refused'], () => ({
      seenVersion: v7({ msecs: Date.now() + (aheadMs.shift() as number) }),
    }));
    vi.mocked(sleep).mockImplementation(async () => void clock.mockReturnValue(Date.now() + 1_000) as never);

    await carryOut(write);

    const timeOf = (version: string) => Number.parseInt(version.replaceAll('-', '').slice(0, 12), 16);
    expect(write.versions.map((version) => timeOf(version) - now)).toEqual([
      0,
      hourMs + 1_000,
      hourMs + 2_000 + 1,
      hourMs + 3_000,
    ]);
  });

  test('an item that is too large is unknown after a lost attempt, which may still fit', async () => {
    await expect(carryOut(writing(['failed', 'too large']))).rejects.toThrow(ItemTooLargeError);
    const undecided = carryOut(writing(['lost', 'too large']));
    await expect(undecided).rejects.toThrow(StorageUnavailableError);
    await expect(undecided).rejects.toThrow(expect.objectContaining({ cause: expect.any(ItemTooLargeError) }));
    const mismatch = () => {
      throw new VersionMismatchError();
    };
    await expect(carryOut(writing(['lost'], mismatch))).rejects.toThrow(VersionMismatchError);
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
    const write = {
      send: (_version: string, abortSignal: AbortSignal) => hang(abortSignal),
      look: async ({ sent, lost }: Write) => {
        expect(lost).toEqual(sent);
        return { result: 'found' };
      },
    };
    const found = vi.fn();
    const writingOnce = carryOut(write).then(found);
    await vi.advanceTimersByTimeAsync(2_799);
    expect([signals[0]?.aborted, found.mock.calls]).toEqual([false, []]);

    await vi.advanceTimersByTimeAsync(1);

    expect([signals[0]?.aborted, found.mock.calls]).toEqual([true, [['found']]]);
    await writingOnce;
    const failing = expect(attempts.read(hang)).rejects.toThrow('no response within 2800 ms');
    await vi.advanceTimersByTimeAsync(3 * 2_800);
    await failing;
  });

  test('begins with its turn, of which there are eight', async () => {
    const send: Sending = (_version, abortSignal) => hang(abortSignal);
    const finding = Array.from({ length: 9 }, () => carryOut({ send, look: async () => ({ result: 'found' }) }));
    await vi.advanceTimersByTimeAsync(2_799);
    expect(signals).toHaveLength(8);

    await vi.advanceTimersByTimeAsync(1 + 2_799);

    expect(signals.map(({ aborted }) => aborted)).toEqual([...Array(8).fill(true), false]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await Promise.all(finding)).toEqual(Array(9).fill('found'));
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
