import { rm } from 'node:fs/promises';
import { afterAll, beforeAll } from 'vitest';
import { type EnvelopeResponse, type HttpRequest, request } from '../support/http-client.ts';
import { authorize, createDataFolder, LocalService, testSettings } from './local-service.ts';

/** The defaults of `npm start`, as in the examples of the documents. */
export const defaultCredentials = { AUTH_USERNAME: 'admin', AUTH_PASSWORD: 'password' };

/** A service that the tests of a file share. */
export interface SharedService {
  readonly service: LocalService;
  readonly baseUrl: string;
  readonly dataFolder: string;
  /** A valid token in its header. */
  readonly headers: { readonly Authorization: string };
  /** Sends a request with the token. */
  send(method: string, path: string, body?: unknown): Promise<EnvelopeResponse>;
}

/**
 * Starts a service with an empty catalog before the tests of a file, and stops it after them.
 *
 * @param environment - variables on top of those of every test
 * @param folder - makes the folder of the service; this project by default
 */
export function useLocalService(
  environment: Readonly<Record<string, string>> = {},
  folder?: () => Promise<string>,
): SharedService {
  const shared = {} as { -readonly [Part in keyof SharedService]: SharedService[Part] };
  beforeAll(async () => {
    shared.dataFolder = await createDataFolder();
    shared.service = await LocalService.start(
      { DB_PATH: shared.dataFolder, ...environment },
      await folder?.(),
    );
    shared.baseUrl = shared.service.baseUrl;
    shared.headers = await authorize(shared.baseUrl, { ...testSettings, ...environment });
  });
  afterAll(async () => {
    await shared.service?.stop();
    await rm(shared.dataFolder, { recursive: true, force: true });
  });
  shared.send = (method: string, path: string, body?: unknown) => {
    const init: Partial<HttpRequest> = { method, headers: shared.headers };
    return request(
      shared.baseUrl + path,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
    );
  };
  return shared;
}
