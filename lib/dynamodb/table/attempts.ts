import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { invocationSignal } from '../../invocation-signal.ts';
import {
  AttemptError,
  ConditionFailedError,
  ItemTooLargeError,
  StorageUnavailableError,
} from '../connection/errors.ts';
import { createVersion, measureLag } from './versions.ts';

/** For a whole attempt, from the connection to the last byte of the response. Enough for a 1 MB page on a slow line. */
const attemptTimeoutMs = 2_800;

/** Three timeouts and the delays between them take 8.7 s, so a read fails before a function's 10 s are over. */
const maxFailures = 3;

/** The longest delay before the second attempt. It doubles for each further attempt. */
const firstDelayMs = 100;

/** The longest delay of all. Only refused attempts, whose number is not limited, reach it. */
const maxDelayMs = 1_600;

/** A list has four requests under way. Above eight, they would only wait in the database, with their time running. */
const requestsAtOnce = 8;

/** A write whose refused and lost attempts are resolved by what is stored. */
export interface Write<Value> {
  /** The version that is stored before the first attempt, where it is known. */
  readonly seenVersion?: string | undefined;

  /**
   * Makes one attempt.
   *
   * @param attempt.version - what it gives to a book: above those of earlier attempts, and above the seen version
   * @param attempt.seenVersion - the version that was stored when somebody looked last, if it has one
   * @param attempt.lost - the versions of lost attempts
   */
  send(attempt: {
    readonly version: string;
    readonly seenVersion: string | undefined;
    readonly lost: readonly string[];
    readonly abortSignal: AbortSignal;
  }): Promise<Value>;

  /**
   * Finds out from what is stored whether an attempt was carried out, or why one was refused.
   *
   * @param attempts.sent - the versions of all, oldest first. What is stored with one of them is the work of that attempt.
   * @param attempts.lost - the versions of lost ones. Each was carried out, or may still be.
   * @param attempts.seenVersion - as for the last attempt
   * @param attempts.refusal - of the last one, if it was refused
   * @throws {StorageUnavailableError} when nobody can know whether an attempt was carried out
   */
  resolve(attempts: {
    readonly sent: readonly string[];
    readonly lost: readonly string[];
    readonly seenVersion: string | undefined;
    readonly refusal: ConditionFailedError | undefined;
  }): Promise<Resolution<Value>>;
}

interface Resolution<Value> {
  /** Of a write that was carried out. Without it, another attempt is right. */
  readonly result?: Value;
  /** The version that is stored, if it has one. */
  readonly seenVersion?: string | undefined;
}

/** The attempts at requests to one database. The time of each starts with its turn, so overload makes none fail. */
export class Attempts {
  readonly #turns = pLimit(requestsAtOnce);

  /**
   * Makes attempts at a read.
   *
   * @throws {StorageUnavailableError} when attempts fail
   */
  async read<Value>(send: (abortSignal: AbortSignal) => Promise<Value>): Promise<Value> {
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
   * Makes attempts at a write until its outcome is known. After a refused or a lost one, {@link Write.resolve} looks at
   * what is stored. Only failures and lost responses are counted. A refusal means that a write succeeded, usually that
   * of another client, so refused attempts go on until the invocation ends.
   *
   * @throws {StorageUnavailableError} when attempts fail, or may still be carried out
   */
  async write<Value>(write: Write<Value>): Promise<Value> {
    const lost: string[] = [];
    try {
      return await this.#writeUntilKnown(write, lost);
    } catch (error) {
      // A lost attempt at making an item too large may still be carried out, once others have made the item smaller.
      const isUndecided = error instanceof ItemTooLargeError && lost.length > 0;
      throw error instanceof AttemptError || isUndecided ? unavailable(error) : error;
    }
  }

  /** @param lost - gets the versions of lost attempts */
  async #writeUntilKnown<Value>(write: Write<Value>, lost: string[]): Promise<Value> {
    const sent: string[] = [];
    let { seenVersion } = write;
    let behindMs = 0;
    let failures = 0;
    for (;;) {
      let failure: AttemptError | ConditionFailedError;
      try {
        const send = (abortSignal: AbortSignal) => {
          const version = createVersion([sent.at(-1), seenVersion], behindMs);
          sent.push(version);
          return write.send({ version, seenVersion, lost, abortSignal });
        };
        return await this.#turns(() => attempt(send));
      } catch (error) {
        if (!(error instanceof AttemptError || error instanceof ConditionFailedError)) throw error;
        failure = error;
      }
      if (failure instanceof AttemptError) {
        if (failure.mayBeDone) lost.push(sent.at(-1) as string);
        failures += 1;
        // Before the look at what is stored, because a lost attempt may be under way.
        if (failures < maxFailures) await pauseAfter(sent.length);
      }
      const refusal = failure instanceof ConditionFailedError ? failure : undefined;
      if (refusal || lost.length > 0) {
        const resolution = await write.resolve({ sent, lost, seenVersion, refusal });
        if (resolution.result !== undefined) return resolution.result;
        seenVersion = resolution.seenVersion;
      }
      if (failures === maxFailures) throw failure;
      if (refusal) {
        // After the look at what is stored, which is usually the outcome.
        behindMs = Math.max(behindMs, measureLag(seenVersion));
        await pauseAfter(sent.length);
      }
    }
  }
}

function unavailable(cause: Error): StorageUnavailableError {
  return new StorageUnavailableError(cause.message, { cause });
}

/** Waits for a random time. Its bound doubles with each attempt that was made. */
async function pauseAfter(attempts: number): Promise<void> {
  await sleep(Math.random() * Math.min(firstDelayMs * 2 ** (attempts - 1), maxDelayMs));
}

/** Makes one attempt, which ends with its timeout or its invocation. */
async function attempt<Value>(send: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
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
