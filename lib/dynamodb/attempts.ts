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

/** Refusals that a write survives: of 50 concurrent updates of a book, each is refused once or twice at most. */
const maxRefusals = 10;

/** The delay before another attempt is random, up to this and then twice as much each time. */
const firstDelayMs = 100;

/** A list has four requests under way; more would only wait in the database, with their time running. */
const requestsAtOnce = 8;

/** What one attempt may use: its number among those at the same request, and the signal that ends it. */
export interface AttemptOptions {
  readonly attempt: number;
  readonly abortSignal: AbortSignal;
}

/** What the attempts at a write have come to when none got a usable response. */
interface Unsettled {
  /** The tokens of the attempts that may have been carried out, oldest first. */
  readonly lost: readonly string[];
  /** Whether the last attempt was refused by its condition. */
  readonly refused: boolean;
}

/** A write whose outcome is found by reading. */
interface Write<Value> {
  /** Makes one attempt, with a token of its own. */
  send(token: string, options: AttemptOptions): Promise<Value>;
  /** Reads what is stored. @returns the result of the write when it is settled; `undefined` for another attempt */
  settle(unsettled: Unsettled): Promise<Value | undefined>;
}

/**
 * The attempts at requests to one database. A bounded number is under way at a time, first come first served, and the time of
 * an attempt starts when its turn comes, so that overload slows requests down and does not fail them.
 *
 * **What if a response is lost?** A read is repeated. A write is not: what is stored is read first, and tells whether one of
 * the attempts was carried out ({@link Write.settle}). When nobody can know, the write ends with a
 * {@link StorageUnavailableError}. An attempt that arrives after it was given up is harmless, because its condition refuses
 * it (book-repository.ts).
 */
export class Attempts {
  readonly #limit = pLimit(requestsAtOnce);

  /** Repeats a request that does no harm when it is carried out twice. @throws {StorageUnavailableError} */
  async repeat<Value>(send: (options: AttemptOptions) => Promise<Value>): Promise<Value> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#make(attempt, send);
      } catch (error) {
        await pauseAfter(error, attempt);
      }
    }
  }

  /** Makes attempts at a write until its outcome is known. @throws {StorageUnavailableError} */
  async write<Value>({ send, settle }: Write<Value>): Promise<Value> {
    const lost: string[] = [];
    let failures = 0;
    for (let attempt = 1; ; attempt += 1) {
      let token = '';
      let problem: unknown;
      try {
        return await this.#make(attempt, (options) => {
          token = createWriteToken();
          return send(token, options);
        });
      } catch (error) {
        problem = error;
      }
      const refused = problem instanceof ConditionFailedError;
      if (problem instanceof AttemptError && problem.mayBeDone) lost.push(token);
      if (refused || lost.length > 0) {
        const value = await settle({ lost, refused });
        if (value !== undefined) return value;
      }
      if (!refused) await pauseAfter(problem, ++failures);
      if (attempt - failures >= maxRefusals)
        throw new StorageUnavailableError('others changed the book again and again');
    }
  }

  #make<Value>(attempt: number, send: (options: AttemptOptions) => Promise<Value>): Promise<Value> {
    const invocation = invocationSignal.getStore();
    return this.#limit(async () => {
      if (invocation?.aborted) throw new StorageUnavailableError('the invocation is over');
      // AbortSignal.timeout and AbortSignal.any take several times the CPU time, and their timers stay.
      const controller = new AbortController();
      const giveUp = () => controller.abort();
      const timer = setTimeout(giveUp, attemptTimeoutMs);
      invocation?.addEventListener('abort', giveUp);
      try {
        return await send({ attempt, abortSignal: controller.signal });
      } catch (error) {
        const { httpStatusCode } = (error as Partial<ServiceException>).$metadata ?? {};
        if (!controller.signal.aborted || httpStatusCode !== undefined) throw interpretError(error);
        throw new AttemptError(`no response within ${attemptTimeoutMs} ms`, {
          mayBeDone: true,
          cause: error,
        });
      } finally {
        clearTimeout(timer);
        invocation?.removeEventListener('abort', giveUp);
      }
    });
  }
}

/** Waits before another attempt. @throws the error when there will be none */
async function pauseAfter(error: unknown, failures: number): Promise<void> {
  if (!(error instanceof AttemptError)) throw error;
  if (failures >= maxFailures) throw new StorageUnavailableError(error.message, { cause: error });
  await sleep(Math.random() * firstDelayMs * 2 ** (failures - 1));
}
