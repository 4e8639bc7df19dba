import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { type HttpEvent, readHttpEvent, type Service } from '../framework.ts';

export interface LoadedFunction {
  readonly name: string;
  readonly timeoutMs: number;
  readonly events: readonly HttpEvent[];
  readonly handler: Handler;
}

/** A Lambda handler; one that streams its response takes the stream as its second argument. */
type Handler = ((event: APIGatewayProxyEvent, context: Context) => Promise<unknown>) &
  ((event: APIGatewayProxyEvent, response: unknown, context: Context) => Promise<unknown>);

const defaultTimeoutSeconds = 6; // Lambda's

/** Loads functions as they are on the disk: each load gives the service's modules new URLs, as Node never unloads any. */
export class FunctionLoader {
  readonly #root: string;
  #generation = 0;

  /** @param directory - the folder of the service */
  constructor(directory: string) {
    this.#root = pathToFileURL(join(directory, '/')).href;
    registerHooks({
      resolve: (specifier, context, nextResolve) => {
        const resolved = nextResolve(specifier, context);
        const parent = context.parentURL === undefined ? null : URL.parse(context.parentURL);
        const generation = parent?.searchParams.get('generation');
        const isOwn = resolved.url.startsWith(this.#root) && !resolved.url.includes('/node_modules/');
        if (!generation || !isOwn) return resolved;
        return { ...resolved, url: `${resolved.url}?generation=${generation}` };
      },
    });
  }

  /** Loads functions, as Lambda's INIT phase does. Throws what a module throws. */
  async load({ functions, provider }: Service): Promise<readonly LoadedFunction[]> {
    const query = this.#generation === 0 ? '' : `?generation=${this.#generation}`;
    this.#generation += 1;
    return Promise.all(
      Object.entries(functions).map(async ([name, { handler, timeout, events = [] }]) => {
        const dot = handler.lastIndexOf('.');
        const module = await import(`${this.#root}${handler.slice(0, dot)}.ts${query}`);
        return {
          name,
          timeoutMs: (timeout ?? provider.timeout ?? defaultTimeoutSeconds) * 1000,
          events: events.flatMap(({ http }) => (http === undefined ? [] : [readHttpEvent(http)])),
          handler: module[handler.slice(dot + 1)],
        };
      }),
    );
  }
}
