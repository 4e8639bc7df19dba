import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { type FunctionDefinition, type HttpEvent, readHttpEvent } from '../framework.ts';

/** A function that is loaded. */
export interface LoadedFunction {
  readonly name: string;
  /** The function's time limit. */
  readonly timeoutMs: number;
  /** Its HTTP events. */
  readonly events: readonly HttpEvent[];
  readonly handler: Handler;
}

/** A Lambda handler; one that streams its response takes the stream as its second argument. */
type Handler = ((event: APIGatewayProxyEvent, context: Context) => Promise<unknown>) &
  ((event: APIGatewayProxyEvent, response: unknown, context: Context) => Promise<unknown>);

/** Lambda's own, for a function without one. */
const defaultTimeoutSeconds = 6;

/** The generation of the modules in their URLs; the first one has none. */
const generationParameter = 'generation';

/**
 * Loads the modules of functions, as they are on the disk, any number of times: Node keeps a module for as long as the
 * process lives, so each load gives those of the service new URLs. Packages are loaded once. The modules of former
 * loads stay in memory.
 */
export class FunctionLoader {
  readonly #root: string;
  #generation = 0;

  /** @param directory - the folder of the service */
  constructor(directory: string) {
    this.#root = pathToFileURL(join(directory, '/')).href;
    registerHooks({
      resolve: (specifier, context, nextResolve) => {
        const resolved = nextResolve(specifier, context);
        const generation =
          context.parentURL && URL.parse(context.parentURL)?.searchParams.get(generationParameter);
        if (!generation || !this.#isOwn(resolved.url)) return resolved;
        return { ...resolved, url: `${resolved.url}?${generationParameter}=${generation}` };
      },
    });
  }

  /**
   * Loads functions, which is Lambda's INIT phase.
   *
   * @param functions - those of serverless.yml
   * @param timeoutSeconds - the time limit of those that have none of their own
   * @throws what a module throws while it loads
   */
  async load(
    functions: Readonly<Record<string, FunctionDefinition>>,
    timeoutSeconds = defaultTimeoutSeconds,
  ): Promise<readonly LoadedFunction[]> {
    const query = this.#generation === 0 ? '' : `?${generationParameter}=${this.#generation}`;
    this.#generation += 1;
    return Promise.all(
      Object.entries(functions).map(async ([name, { handler, timeout = timeoutSeconds, events }]) => {
        const dot = handler.lastIndexOf('.');
        const module = await import(`${this.#root}${handler.slice(0, dot)}.ts${query}`);
        return {
          name,
          timeoutMs: timeout * 1000,
          events: (events ?? []).flatMap(({ http }) => (http === undefined ? [] : [readHttpEvent(http)])),
          handler: module[handler.slice(dot + 1)],
        };
      }),
    );
  }

  #isOwn(url: string): boolean {
    return url.startsWith(this.#root) && !url.includes('/node_modules/');
  }
}
