import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { BookTooLargeError } from '../books/errors.ts';
import { invocationSignal } from '../invocation-signal.ts';
import { AttemptError, ConditionFailedError, StorageUnavailableError } from './errors.ts';
import { createWriteToken } from './write-token.ts';

/** For a whole attempt, from the connection to the last byte of the response. Enough for a 1 MB page on a slow line. */
const attemptTimeoutMs = 2_800;

/** Three timeouts and the delays between them take 8.7 s, so a read fails before a function's 10 s are over. */
const maxFailures = 3;

/** The delay before the second attempt is random, up to this. The bound doubles for each further attempt. */
const firstDelayMs = 100;

/** The bound doubles no further. Only refused attempts, which are not counted, get here. */
const maxDelayMs = 1_600;

/** A list has four requests under way. Above eight, they would only wait in the database, with their time running. */
const requestsAtOnce = 8;

/** One attempt at a write. */
export interface Attempt {
  /** The token of a write, above those of earlier attempts and above the version that was seen. */
  readonly token: string;
  readonly abortSignal: AbortSignal;
}

/** The tokens of the lost attempts, oldest first. Each was carried out, or may still be. */
export type Lost = readonly string[];

/** A write whose refused and lost attempts are resolved by what is stored. */
export interface Write<Value> {
  /** The stored version, where it is known. The token of the next attempt is above it. */
  readonly seenVersion?: string | undefined;

  /** @param lost - the attempts before this one that were lost */
  send(attempt: Attempt, lost: Lost): Promise<Value>;

  /**
   * Finds out from what is stored whether a lost attempt was carried out, or why one was refused.
   *
   * @param refusal - of the last attempt, if it was refused
   * @returns the result, or `undefined` when another attempt is right
   * @throws {StorageUnavailableError} when nobody can know whether an attempt was carried out
   */
  resolve(lost: Lost, refusal?: ConditionFailedError): Promise<Value | undefined>;
}

/** How an attempt ended. A lost one was carried out, or may still be. A failed one never will be. */
type Ending<Value> = { readonly kind: 'done'; readonly value: Value } | Unsuccessful;
type Unsuccessful =
  | { readonly kind: 'refused'; readonly error: ConditionFailedError }
  | { readonly kind: 'lost' | 'failed'; readonly error: AttemptError };

/** The attempts at requests to one database. The time of each starts with its turn, so overload makes none fail. */
export class Attempts {
  readonly #turns = pLimit(requestsAtOnce);

  /**
   * Makes attempts at a request that may be carried out twice. Only failures and lost responses are counted. A refusal
   * means that another client's write succeeded, so refused attempts go on until the invocation ends.
   *
   * @param resolve - finds the result of an attempt that was lost or refused. A request without it cannot be refused,
   *   and a refusal is a failure
   * @throws {StorageUnavailableError} when attempts fail
   */
  async repeat<Value>(
    send: (abortSignal: AbortSignal) => Promise<Value>,
    resolve?: (ending: Unsuccessful) => Promise<Value | undefined>,
  ): Promise<Value> {
    let failures = 0;
    try {
      for (let delayMs = firstDelayMs; ; delayMs = Math.min(2 * delayMs, maxDelayMs)) {
        const ending = await this.#turns(() => attempt(send));
        if (ending.kind === 'done') return ending.value;
        const isRefused = ending.kind === 'refused' && resolve !== undefined;
        if (!isRefused) failures += 1;
        const isLast = failures === maxFailures;
        const pause = () => sleep(Math.random() * delayMs);
        // A refusal is usually the outcome, so it is resolved at once.
        if (!isRefused && !isLast) await pause();
        const value = await resolve?.(ending);
        if (value !== undefined) return value;
        if (isLast) throw ending.error;
        if (isRefused) await pause();
      }
    } catch (error) {
      const isFailure = error instanceof AttemptError || error instanceof ConditionFailedError;
      throw isFailure ? new StorageUnavailableError(error.message, { cause: error }) : error;
    }
  }

  /**
   * Makes attempts at a write until its outcome is known. After a refused or a lost one, {@link Write.resolve} looks at
   * what is stored.
   *
   * @throws {StorageUnavailableError} when attempts fail, or may still be carried out
   */
  async write<Value>(write: Write<Value>): Promise<Value> {
    const lost: string[] = [];
    let token: string | undefined;
    const send = (abortSignal: AbortSignal) => {
      token = createWriteToken(token, write.seenVersion);
      return write.send({ token, abortSignal }, lost);
    };
    const resolve = async ({ kind, error }: Unsuccessful) => {
      if (kind === 'lost') lost.push(token as string);
      if (kind === 'refused') return write.resolve(lost, error);
      return lost.length > 0 ? write.resolve(lost) : undefined;
    };
    try {
      return await this.repeat(send, resolve);
    } catch (error) {
      // The lost attempt may still be carried out, once others have made the book smaller.
      const isUndecided = error instanceof BookTooLargeError && lost.length > 0;
      throw isUndecided ? new StorageUnavailableError(error.message, { cause: error }) : error;
    }
  }
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
    return { kind: 'done', value: await Promise.race([send(controller.signal), end]) };
  } catch (error) {
    if (error instanceof ConditionFailedError) return { kind: 'refused', error };
    if (error instanceof AttemptError) return { kind: error.mayBeDone ? 'lost' : 'failed', error };
    throw error;
  } finally {
    clearTimeout(timer);
    invocation?.removeEventListener('abort', giveUp);
  }
}
