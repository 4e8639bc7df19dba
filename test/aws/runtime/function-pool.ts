import type { LambdaInstance } from './lambda-instance.ts';
import type { InvocationResult } from './runtime-api.ts';

/** More would only take each other's processor time here. */
const maxInstances = 3;

/** A function with as many instances as invocations at the same time, up to a few; each handles one at a time. */
export class FunctionPool {
  readonly #start: () => Promise<LambdaInstance>;
  readonly #instances: Promise<LambdaInstance>[] = [];
  readonly #idle: LambdaInstance[] = [];
  readonly #waiting: ((instance: LambdaInstance) => void)[] = [];

  /** @param start - starts an instance of the function */
  constructor(start: () => Promise<LambdaInstance>) {
    this.#start = start;
  }

  /**
   * Invokes the function on an instance that nobody else has until the result has been used.
   *
   * @param event - the event
   * @param use - reads the result to its end
   */
  async invoke(event: unknown, use: (result: InvocationResult) => Promise<void>): Promise<void> {
    const instance = await this.#take();
    try {
      await use(await instance.api.invoke(event));
    } finally {
      const next = this.#waiting.shift();
      if (next) next(instance);
      else this.#idle.push(instance);
    }
  }

  async stop(): Promise<void> {
    for (const instance of this.#instances) await (await instance).stop();
  }

  async #take(): Promise<LambdaInstance> {
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#instances.length < maxInstances) {
      const started = this.#start();
      this.#instances.push(started);
      return started;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
