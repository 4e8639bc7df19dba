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

/** One attempt at a write. */
export interface Attempt {
  /** The version that it gives to a book: above those of earlier attempts, and above the version that was seen. */
  readonly version: string;
  readonly abortSignal: AbortSignal;
}

/** The attempts until now. */
export interface Earlier {
  /** Their versions, oldest first. What is stored with one of them is the work of that attempt. */
  readonly sent: readonly string[];
  /** The versions of lost attempts. Each was carried out, or may still be. */
  readonly lost: readonly string[];
  /** The version that was stored when somebody looked last. The next version is above it. */
  readonly seenVersion?: string | undefined;
}

/** What is stored after a refused or a lost attempt. */
export interface Found<Value> {
  /** The result. Without it, another attempt is right. */
  readonly value?: Value;
  readonly seenVersion?: string | undefined;
}

/** A write whose refused and lost attempts are resolved by what is stored. */
export interface Write<Value> {
  send(attempt: Attempt, earlier: Earlier): Promise<Value>;

  /**
   * Finds out from what is stored whether an attempt was carried out, or why one was refused.
   *
   * @param refusal - of the last attempt, if it was refused
   * @throws {StorageUnavailableError} when nobody can know whether an attempt was carried out
   */
  resolve(earlier: Earlier, refusal?: ConditionFailedError): Promise<Found<Value>>;
}

/** How an attempt ended: with a value, a refusal or a failure. */
type Ending<Value> = { readonly value: Value } | { readonly error: ConditionFailedError | AttemptError };

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
      const ending = await this.#turns(() => attempt(send));
      if ('value' in ending) return ending.value;
      if (failures === maxFailures) throw unavailable(ending.error);
      await pauseAfter(failures);
    }
  }

  /**
   * Makes attempts at a write until its outcome is known. After a refused or a lost one, {@link Write.resolve} looks at
   * what is stored. Only failures and lost responses are counted. A refusal means that a write succeeded, usually that
   * of another client, so refused attempts go on until the invocation ends.
   *
   * @param seenVersion - the stored version, where it is known
   * @throws {StorageUnavailableError} when attempts fail, or may still be carried out
   */
  async write<Value>(write: Write<Value>, seenVersion?: string): Promise<Value> {
    const sent: string[] = [];
    const lost: string[] = [];
    const earlier = { sent, lost, seenVersion };
    let failures = 0;
    let behindMs = 0;
    const send = (abortSignal: AbortSignal) => {
      const version = createVersion([sent.at(-1), earlier.seenVersion], behindMs);
      sent.push(version);
      return write.send({ version, abortSignal }, earlier);
    };
    const resolve = async (refusal?: ConditionFailedError) => {
      const { value, seenVersion } = await write.resolve(earlier, refusal);
      earlier.seenVersion = seenVersion;
      return value;
    };
    try {
      for (;;) {
        const ending = await this.#turns(() => attempt(send));
        if ('value' in ending) return ending.value;
        const { error } = ending;
        if (error instanceof ConditionFailedError) {
          // Before the pause, because what is stored is usually the outcome.
          const value = await resolve(error);
          if (value !== undefined) return value;
          behindMs = Math.max(behindMs, measureLag(earlier.seenVersion));
          await pauseAfter(sent.length);
          continue;
        }
        if (error.mayBeDone) lost.push(sent.at(-1) as string);
        failures += 1;
        // Before the look at what is stored, because a lost attempt may be under way.
        if (failures < maxFailures) await pauseAfter(sent.length);
        const value = lost.length > 0 ? await resolve() : undefined;
        if (value !== undefined) return value;
        if (failures === maxFailures) throw error;
      }
    } catch (error) {
      const isFailure = error instanceof AttemptError || error instanceof ConditionFailedError;
      // A lost attempt at making an item too large may still be carried out, once others have made the item smaller.
      const isUndecided = error instanceof ItemTooLargeError && lost.length > 0;
      throw isFailure || isUndecided ? unavailable(error) : error;
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

/** Makes one attempt, which ends with its timeout or its invocation. @throws errors that no further attempt mends */
async function attempt<Value>(send: (signal: AbortSignal) => Promise<Value>): Promise<Ending<Value>> {
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
    return { value: await Promise.race([send(controller.signal), end]) };
  } catch (error) {
    if (error instanceof ConditionFailedError || error instanceof AttemptError) return { error };
    throw error;
  } finally {
    clearTimeout(timer);
    invocation?.removeEventListener('abort', giveUp);
  }
}
