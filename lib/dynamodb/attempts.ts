import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceException } from '@smithy/core/client';
import pLimit from 'p-limit';
import { StorageUnavailableError } from '../books/errors.ts';
import { invocationSignal } from '../invocation-signal.ts';
import { AttemptError, ConditionFailedError, interpretError } from './errors.ts';
import { createWriteToken } from './write-token.ts';

/** The whole attempt: connection, request, and the response to its last byte. Enough for a 1 MB page on a slow line. */
export const attemptTimeoutMs = 2_800;

/** With the timeout and the delays, a read fails within about 9 s, before a function's 10 s are over. */
const maxFailures = 3;

/** Of 50 concurrent updates of a book, each is refused once or twice at most. */
const maxRefusals = 10;

/** The delay before another attempt is random, up to this and then twice as much each time. */
const firstDelayMs = 100;

/** A list has four requests under way; more would only wait in the database, with their time running. */
const requestsAtOnce = 8;

/** One attempt at a request: its number, from 1 up, the token of its write, and what ends it. */
export interface Attempt {
  readonly attempt: number;
  readonly token: string;
  readonly abortSignal: AbortSignal;
}

/** The tokens of the attempts that may have been carried out, oldest first, and why the last one was refused, if it was. */
export type Unsettled = { readonly lost: readonly string[]; readonly refusal?: ConditionFailedError };

/** The attempts at requests to one database. Each waits for its turn before its time starts: overload makes none fail. */
export class Attempts {
  readonly #limit = pLimit(requestsAtOnce);

  /**
   * Makes attempts at a request until its outcome is known.
   *
   * **What if a response is lost?** A read is repeated. A write is not: what is stored is read first, and tells whether one of
   * the attempts was carried out. When nobody can know, it ends with a {@link StorageUnavailableError}. An attempt that arrives
   * after it was given up is refused by its condition (book-repository.ts).
   *
   * @param send - makes one attempt
   * @param settle - reads what a write has stored, and returns its result if it is settled, `undefined` for another attempt;
   *   absent for a request that does no harm when it is carried out twice
   */
  async make<Value>(
    send: (attempt: Attempt) => Promise<Value>,
    settle?: (unsettled: Unsettled) => Promise<Value | undefined>,
  ): Promise<Value> {
    const invocation = invocationSignal.getStore();
    const lost: string[] = [];
    let failures = 0;
    for (let attempt = 1; ; attempt += 1) {
      let token = '';
      try {
        return await this.#limit(() => {
          token = createWriteToken();
          return withinTime((abortSignal) => send({ attempt, token, abortSignal }), invocation);
        });
      } catch (error) {
        const refused = error instanceof ConditionFailedError && { refusal: error };
        if (error instanceof AttemptError && error.mayBeDone) lost.push(token);
        const value = refused || lost.length > 0 ? await settle?.({ lost, ...refused }) : undefined;
        if (value !== undefined) return value;
        if (!refused) await pauseAfter(error, ++failures);
        else if (attempt - failures >= maxRefusals) {
          throw new StorageUnavailableError('others changed the book again and again');
        }
      }
    }
  }
}

/** Ends an attempt after its time, and with its invocation. @throws what {@link interpretError} makes of its error */
async function withinTime<Value>(send: (signal: AbortSignal) => Promise<Value>, invocation?: AbortSignal) {
  if (invocation?.aborted) throw new StorageUnavailableError('the invocation is over');
  // AbortSignal.timeout and AbortSignal.any take several times the CPU time, and their timers stay.
  const controller = new AbortController();
  const giveUp = () => controller.abort();
  const timer = setTimeout(giveUp, attemptTimeoutMs);
  invocation?.addEventListener('abort', giveUp);
  try {
    return await send(controller.signal);
  } catch (cause) {
    const { httpStatusCode } = (cause as Partial<ServiceException>).$metadata ?? {};
    if (!controller.signal.aborted || httpStatusCode !== undefined) throw interpretError(cause);
    throw new AttemptError(`no response within ${attemptTimeoutMs} ms`, { mayBeDone: true, cause });
  } finally {
    clearTimeout(timer);
    invocation?.removeEventListener('abort', giveUp);
  }
}

/** Waits before another attempt. @throws the error when there will be none */
async function pauseAfter(error: unknown, failures: number): Promise<void> {
  if (!(error instanceof AttemptError)) throw error;
  if (failures >= maxFailures) throw new StorageUnavailableError(error.message, { cause: error });
  await sleep(Math.random() * firstDelayMs * 2 ** (failures - 1));
}
