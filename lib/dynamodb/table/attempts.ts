import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { invocationSignal } from '../../invocation-signal.ts';
import {
  AttemptError,
  ConditionFailedError,
  OutcomeUnknownError,
  StorageUnavailableError,
} from '../connection/errors.ts';

/** For a whole attempt, from the connection to the last byte of the response. Enough for a 1 MB page on a slow line. */
const attemptTimeoutMs = 2_800;

/** Three timeouts and the delays between them take 8.7 s, so a read fails before a function's 10 s are over. */
const maxFailures = 3;

/** The longest delay before the second attempt. It doubles for each further attempt. */
const firstDelayMs = 100;

/** The longest delay of all. Only refused writes, whose number is not limited, reach it. */
const maxDelayMs = 1_600;

/** A list has four requests under way. Above eight, they would only wait in the database, with their time running. */
const requestsAtOnce = 8;

/** Sends a request, which may be aborted. */
type Send<Value> = (abortSignal: AbortSignal) => Promise<Value>;

/** What is known of a write: its value, or that it was refused, or neither. */
interface Outcome<Value> {
  readonly value?: Value;
  /** The write may have refused itself: an attempt of which nobody knew was carried out before. */
  readonly refusal?: ConditionFailedError;
  /** An attempt has no response: it was carried out, or may still be. */
  readonly lost?: OutcomeUnknownError | undefined;
}

/** The attempts at requests to one database. The time of each starts with its turn, so overload makes none fail. */
export class Attempts {
  readonly #turns = pLimit(requestsAtOnce);

  /** Makes attempts at a read. @throws {StorageUnavailableError} when attempts fail */
  async read<Value>(send: Send<Value>): Promise<Value> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#turns(() => attempt(send));
      } catch (error) {
        if (!(error instanceof AttemptError || error instanceof ConditionFailedError)) throw error;
        if (failures === maxFailures) throw unavailable(error);
      }
      await pauseAfter(failures);
    }
  }

  /**
   * Makes attempts at a write. Either its condition lets at most one through, or it may be carried out twice.
   *
   * @throws {StorageUnavailableError} when attempts fail, and none is lost
   */
  async write<Value>(send: Send<Value>): Promise<Outcome<Value>> {
    let lost: OutcomeUnknownError | undefined;
    for (let failures = 1; ; failures += 1) {
      try {
        return { value: await this.#turns(() => attempt(send)) };
      } catch (error) {
        if (error instanceof ConditionFailedError) return { refusal: error, lost };
        if (!(error instanceof AttemptError)) throw error;
        if (error.mayBeDone) lost = new OutcomeUnknownError(error.message, { cause: error });
        if (failures === maxFailures && lost) return { lost };
        if (failures === maxFailures) throw unavailable(error);
      }
      await pauseAfter(failures);
    }
  }
}

/** Makes the error of a request whose attempts have failed. */
function unavailable(cause: Error): StorageUnavailableError {
  return new StorageUnavailableError(cause.message, { cause });
}

/** Waits for a random time. Its bound doubles with each attempt that was made. */
export async function pauseAfter(attempts: number): Promise<void> {
  await sleep(Math.random() * Math.min(firstDelayMs * 2 ** (attempts - 1), maxDelayMs));
}

/** Makes one attempt, which ends with its timeout or its invocation. @throws {AttemptError} then */
async function attempt<Value>(send: Send<Value>): Promise<Value> {
  const invocation = invocationSignal.getStore();
  if (invocation?.aborted) throw new StorageUnavailableError('the invocation is over');
  // AbortSignal.timeout and AbortSignal.any take several times the CPU time, and their timers outlive the attempt.
  const controller = new AbortController();
  const { promise: end, reject } = Promise.withResolvers<never>();
  const giveUp = () => {
    controller.abort();
    reject(new AttemptError(`no response within ${attemptTimeoutMs} ms`));
  };
  const timer = setTimeout(giveUp, attemptTimeoutMs);
  invocation?.addEventListener('abort', giveUp);
  try {
    // The transport may ignore its signal. After an HTTP 101, for example, its promise stays pending.
    return await Promise.race([send(controller.signal), end]);
  } finally {
    clearTimeout(timer);
    invocation?.removeEventListener('abort', giveUp);
  }
}
