import {
  AttemptError,
  ConditionFailedError,
  ItemTooLargeError,
  StorageUnavailableError,
} from '../connection/errors.ts';
import { type Attempts, maxFailures, pauseAfter, unavailable } from './attempts.ts';
import { createVersion, measureClockSkew } from './versions.ts';

/**
 * One write, in as many attempts as it takes, with optimistic locking ("Optimistic locking with version number", Amazon
 * DynamoDB Developer Guide). The response to an attempt can be lost. Then it was carried out, or it was not, or it is still
 * on its way, and sending it again could undo what others wrote since. So:
 *
 * 1. Each attempt makes a version, and what is stored has the version of the attempt that stored it.
 * 2. The versions of a book only ascend, because a first attempt is refused unless the stored version is below its own.
 * 3. After a lost or a refused attempt, the caller looks at what is stored.
 * 4. If that has one of our versions, the write is done.
 * 5. If its version is lower than those of lost attempts, none of them was carried out. The next attempt is refused unless
 *    exactly this version is still stored, so at most one of ours is carried out, however late they arrive.
 * 6. If its version is higher, a lost attempt was carried out and replaced, or it never will be. Nobody can know: 503.
 * 7. If there is no book, a lost attempt may still find one that somebody creates: 503.
 * 8. A deletion leaves a tombstone with its version, which nothing replaces, so for a deletion sentence 6 does not hold.
 * 9. A create needs a free id, so for a create sentence 7 does not hold.
 * 10. Only failures are counted. A refusal means that a write succeeded, so refused attempts go on.
 *
 * docs/reliability.md goes through an example.
 */
export class Write {
  /** The version that was stored when the caller looked last, if it has one. */
  seen: string | undefined;
  /** The versions of all attempts, oldest first. */
  readonly sent: string[] = [];
  /** The versions of lost ones. Each was carried out, or may still be. */
  readonly lost: string[] = [];
  readonly #attempts: Attempts;
  readonly #failures: AttemptError[] = [];
  #isRefused = false;
  #skewMs = 0;

  constructor(attempts: Attempts, seen?: string) {
    this.#attempts = attempts;
    this.seen = seen;
  }

  /**
   * Makes the next attempt, and others as long as they fail without being lost.
   *
   * @param send - gets the version of the attempt: above those of earlier ones, and above the seen version
   * @returns its value. Without one, look at what is stored. With a refusal, the last attempt was refused.
   * @throws {StorageUnavailableError} when attempts fail
   */
  async attempt<Value>(
    send: (version: string, abortSignal: AbortSignal) => Promise<Value>,
  ): Promise<{ readonly value?: Value; readonly refusal?: ConditionFailedError }> {
    if (this.#isRefused) {
      // Only now, because the look at what is stored usually was the end.
      this.#skewMs = Math.max(this.#skewMs, measureClockSkew(this.seen));
      await pauseAfter(this.sent.length);
      this.#isRefused = false;
    }
    while (this.#failures.length < maxFailures) {
      try {
        const value = await this.#attempts.make((abortSignal) => {
          const version = createVersion([this.sent.at(-1), this.seen], this.#skewMs);
          this.sent.push(version);
          return send(version, abortSignal);
        });
        return { value };
      } catch (error) {
        if (error instanceof ConditionFailedError) {
          this.#isRefused = true;
          return { refusal: error };
        }
        // A lost attempt at making an item too large may still be carried out, once others have made the item smaller.
        if (error instanceof ItemTooLargeError && this.lost.length > 0) throw unavailable(error);
        if (!(error instanceof AttemptError)) throw error;
        if (error.mayBeDone) this.lost.push(this.sent.at(-1) as string);
        this.#failures.push(error);
      }
      // Before the look at what is stored, because a lost attempt may be under way.
      if (this.#failures.length < maxFailures) await pauseAfter(this.sent.length);
      if (this.lost.length > 0) return {};
    }
    throw unavailable(this.#failures.at(-1) as AttemptError);
  }

  /** Whether an attempt with this version has to be refused unless exactly the seen one is stored (sentence 5). */
  needsSeen(version: string): boolean {
    // Versions are made above the seen one, unless that is a day ahead or from another program.
    // Stryker disable next-line EqualityOperator: they are never equal, because a new version has random bits
    return this.lost.length > 0 || version < (this.seen ?? '');
  }

  /** Whether one of the attempts stored what has this version (sentence 4). */
  made(version: string | undefined): boolean {
    return this.sent.some((each) => each === version);
  }

  /** @throws {StorageUnavailableError} when a book has changed since the last look, maybe by a lost attempt (sentence 6) */
  checkNotReplaced(version = ''): void {
    // Stryker disable next-line EqualityOperator: an equal version is one that the write has made (sentence 4)
    const isReplaced = version !== this.seen && this.lost.some((each) => each < version);
    if (isReplaced) throw new StorageUnavailableError('others changed the book');
  }

  /** @throws {StorageUnavailableError} when an attempt is lost, and there is no book (sentence 7) */
  checkNothingLost(): void {
    if (this.lost.length > 0) throw new StorageUnavailableError('an attempt may still arrive');
  }
}
