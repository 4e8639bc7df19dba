import { setTimeout as wait } from 'node:timers/promises';
import { CommandError } from './errors.ts';

const firstDelayMs = 250;
const maxDelayMs = 10_000;

/** What all waiting of one run of the command has in common. */
export interface Endurance {
  /** How long to go on with something that does not succeed. */
  readonly giveUpAfterMs: number;
  /** Aborted when the user wants the command to end. */
  readonly stop: AbortSignal;
  /** Is told why the command waits. */
  readonly onTrouble: (reason: string) => void;
}

/** The pauses between attempts at one thing: longer each time, at random so that many clients spread out. */
export class Patience {
  readonly #endurance: Endurance;
  #startedAt = Date.now();
  #attempts = 0;

  /** @param endurance - when to give up, and what to stop for */
  constructor(endurance: Endurance) {
    this.#endurance = endurance;
  }

  /**
   * Waits before the next attempt.
   *
   * @param reason - why the last one did not succeed
   * @param retryAfterMs - the service's own wish, which is the least that is waited
   * @throws {CommandError} when it has been tried for too long
   * @throws an AbortError when the user wants the command to end
   */
  async pause(reason: string, retryAfterMs = 0): Promise<void> {
    const { giveUpAfterMs, stop, onTrouble } = this.#endurance;
    const ceiling = Math.min(firstDelayMs * 2 ** this.#attempts, maxDelayMs);
    const delay = Math.max(retryAfterMs, ceiling * (0.5 + Math.random() / 2));
    if (Date.now() - this.#startedAt + delay > giveUpAfterMs) {
      throw new CommandError(`gave up after ${Math.round(giveUpAfterMs / 1000)} s: ${reason}`);
    }
    this.#attempts += 1;
    onTrouble(`${reason}; trying again`);
    await wait(delay, undefined, { signal: stop });
  }

  /** Something was achieved: what fails from here on is a new trouble. */
  reset(): void {
    this.#startedAt = Date.now();
    this.#attempts = 0;
  }
}
