import { rootCertificates, setDefaultCACertificates } from 'node:tls';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { onTestFinished, vi } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import { startEngine } from '../../simulators/engine.ts';
import { type FaultyProxy, startFaultyProxy } from '../../simulators/faulty-proxy.ts';
import { createSelfSignedCertificate } from '../../simulators/self-signed-certificate.ts';
import { type BookTable, createBookTable, listBooks } from '../../support/book-table.ts';
import { captureLog } from '../../support/captured-log.ts';
import { forgeToken } from '../../support/forge-token.ts';
import { type Call, loadHandlers, settings } from '../../support/load-handlers.ts';

type Response = Awaited<ReturnType<Call>>;

/** The functions of one test's own, in this process, with the faulty proxy between them and an engine. */
export interface FaultyHandlers {
  readonly proxy: FaultyProxy;
  /** The table past the proxy. */
  readonly table: BookTable;
  /** What the functions have logged so far. */
  readonly log: ReturnType<typeof captureLog>;
  /** Sends a request with a token; an object as its body becomes JSON. */
  ask(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Response>;
  /** The books past the proxy, by id. */
  readStored(): Promise<Map<number, Book>>;
}

/**
 * Starts them for the test that runs.
 *
 * @param options - `isTls`: the functions reach the proxy over HTTPS; `withoutChecksums`: the engine sends none
 */
export async function startFaultyHandlers(
  options: { readonly isTls?: boolean; readonly withoutChecksums?: boolean } = {},
): Promise<FaultyHandlers> {
  const log = captureLog();
  const engine = await startEngine();
  const certificate = options.isTls ? createSelfSignedCertificate() : undefined;
  if (certificate) setDefaultCACertificates([...rootCertificates, certificate.cert]);
  const proxy = await startFaultyProxy(engine.endpoint, {
    withoutChecksums: options.withoutChecksums ?? false,
    ...(certificate && { certificate }),
  });
  onTestFinished(async () => {
    await proxy.stop();
    await engine.stop();
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  const table = await createBookTable(engine.endpoint);
  const call = await loadHandlers(`${proxy.endpoint}/${table.tableName}`);
  const authorization = forgeToken({ secret: settings.SECRET_TOKEN });
  return {
    proxy,
    table,
    log,
    ask: (method, path, body, headers = {}) => {
      const { pathname, searchParams } = new URL(path, 'http://localhost');
      const event: Partial<APIGatewayProxyEvent> = {
        headers: { ...headers, Authorization: authorization },
        queryStringParameters: Object.fromEntries(searchParams),
        requestContext: { path: pathname } as APIGatewayProxyEvent['requestContext'],
        body: body ? JSON.stringify(body) : null,
      };
      return call(method, pathname, event);
    },
    readStored: async () => new Map((await listBooks(table)).map((book) => [book.id, book])),
  };
}
