import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { BookTooLargeError, StorageUnavailableError } from '../books/errors.ts';
import { invocationSignal } from '../invocation-signal.ts';
import { AttemptError, ConditionFailedError, interpretError } from './errors.ts';
import { createWriteToken } from './write-token.ts';

/** The whole attempt: connection, request, and the response to its last byte. Enough for a 1 MB page on a slow line. */
const attemptTimeoutMs = 2_800;

/** With the timeout and the delays, a read fails within about 9 s, before a function's 10 s are over. */
const maxFailures = 3;

/** The delay before another attempt is random, up to this at first, and then up to twice as much each time. */
const firstDelayMs = 100;
const maxDelayMs = 1_600;

/** A list has four requests under way; more would only wait in the database, with their time running. */
const requestsAtOnce = 8;

/** One attempt at a request. */
export interface Attempt {
  /** The token of a write. It is above those of the attempts before it, and above the version that was seen. */
  readonly token: string;
  readonly abortSignal: AbortSignal;
}

/** The tokens of the attempts that may have been carried out, or may be later. Oldest first. */
export type Lost = readonly string[];

/** A write, of which at most one attempt may be carried out. */
export interface Write<Value> {
  /** The version that is stored, as far as is known. The token of the next attempt is above it. */
  readonly seenVersion?: string | undefined;

  /** Makes one attempt, after those that were lost. */
  send(attempt: Attempt, lost: Lost): Promise<Value>;

  /**
   * Reads what is stored, after an attempt was refused or lost.
   *
   * @param refusal - why the last attempt was refused, if it was
   * @returns the result, or `undefined` when another attempt is right
   * @throws {StorageUnavailableError} when nobody can know whether an attempt was carried out
   */
  resolve(lost: Lost, refusal?: ConditionFailedError): Promise<Value | undefined>;
}

/** How an attempt ended. A lost one may have been carried out, or may be later. A failed one was not and never will be. */
type Outcome<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'refused'; readonly error: ConditionFailedError }
  | { readonly kind: 'lost' | 'failed'; readonly error: AttemptError };

/** The attempts at requests to one database. Each waits for its turn before its time starts: overload makes none fail. */
export class Attempts {
  readonly #turns = pLimit(requestsAtOnce);

  /** Makes attempts at a request that does no harm when it is carried out twice. @throws {StorageUnavailableError} */
  repeat<Value>(send: (attempt: Attempt) => Promise<Value>): Promise<Value> {
    return this.write({ send, resolve: async () => undefined });
  }

  /**
   * Makes attempts at a write until its outcome is known. What is stored is read between them: see {@link Write.resolve}. Refusals
   * alone end it only with the invocation, because each one means that another client's write succeeded.
   *
   * @throws {StorageUnavailableError} when attempts fail, or may still be carried out
   */
  async write<Value>(write: Write<Value>): Promise<Value> {
    const lost: string[] = [];
    let token = '';
    let failures = 0;
    const send = (abortSignal: AbortSignal) => {
      token = createWriteToken(token, write.seenVersion);
      return write.send({ token, abortSignal }, lost);
    };
    try {
      for (let delayMs = firstDelayMs; ; delayMs = Math.min(2 * delayMs, maxDelayMs)) {
        const outcome = await this.#turns(() => attempt(send));
        let refusal: ConditionFailedError | undefined;
        switch (outcome.kind) {
          case 'done':
            return outcome.value;
          case 'refused':
            refusal = outcome.error;
            break;
          case 'lost':
            lost.push(token);
            failures += 1;
            break;
          case 'failed':
            failures += 1;
        }
        const isLast = failures === maxFailures;
        if (!isLast) await sleep(Math.random() * delayMs);
        const isUnknown = refusal !== undefined || lost.length > 0;
        const value = isUnknown ? await write.resolve(lost, refusal) : undefined;
        if (value !== undefined) return value;
        if (isLast) throw outcome.error;
      }
    } catch (error) {
      const isUndecided = error instanceof BookTooLargeError && lost.length > 0;
      if (!isUndecided && !(error instanceof AttemptError)) throw error;
      throw new StorageUnavailableError(error.message, { cause: error });
    }
  }
}

/** Makes one attempt, which ends after its time, and with its invocation. @throws errors that no further attempt mends */
async function attempt<Value>(send: (signal: AbortSignal) => Promise<Value>): Promise<Outcome<Value>> {
  const invocation = invocationSignal.getStore();
  if (invocation?.aborted) throw new StorageUnavailableError('the invocation is over');
  // AbortSignal.timeout and AbortSignal.any take several times the CPU time, and their timers stay.
  const controller = new AbortController();
  const { promise: end, reject } = Promise.withResolvers<never>();
  const giveUp = () => {
    controller.abort();
    reject(new AttemptError(`no response within ${attemptTimeoutMs} ms`, { mayBeDone: true }));
  };
  const timer = setTimeout(giveUp, attemptTimeoutMs);
  invocation?.addEventListener('abort', giveUp);
  try {
    // The transport may ignore its signal: after an HTTP 101, for example, it never settles.
    return { kind: 'done', value: await Promise.race([send(controller.signal), end]) };
  } catch (cause) {
    const error = interpretError(cause);
    if (error instanceof ConditionFailedError) return { kind: 'refused', error };
    if (error instanceof AttemptError) return { kind: error.mayBeDone ? 'lost' : 'failed', error };
    throw error;
  } finally {
    clearTimeout(timer);
    invocation?.removeEventListener('abort', giveUp);
  }
}
