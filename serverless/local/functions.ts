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

/**
 * Makes a function that loads functions as they are on the disk: each load gives the service's modules new URLs, as Node
 * never unloads any. It throws what a module throws.
 *
 * @param directory - the folder of the service
 */
export function createFunctionLoader(directory: string) {
  const root = pathToFileURL(join(directory, '/')).href;
  let generation = 0;
  registerHooks({
    resolve: (specifier, context, nextResolve) => {
      const resolved = nextResolve(specifier, context);
      const [query] = /\?generation=\d+$/.exec(context.parentURL ?? '') ?? [];
      const isOwn = resolved.url.startsWith(root) && !resolved.url.includes('/node_modules/');
      return query && isOwn ? { ...resolved, url: resolved.url + query } : resolved;
    },
  });
  return async ({ functions, provider }: Service): Promise<readonly LoadedFunction[]> => {
    const query = generation === 0 ? '' : `?generation=${generation}`;
    generation += 1;
    return Promise.all(
      Object.entries(functions).map(async ([name, { handler, timeout, events = [] }]) => {
        const dot = handler.lastIndexOf('.');
        const module = await import(`${root}${handler.slice(0, dot)}.ts${query}`);
        return {
          name,
          timeoutMs: (timeout ?? provider.timeout) * 1000,
          events: events.flatMap(({ http }) => (http === undefined ? [] : [readHttpEvent(http)])),
          handler: module[handler.slice(dot + 1)],
        };
      }),
    );
  };
}
