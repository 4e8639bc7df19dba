import { rm } from 'node:fs/promises';
import { afterAll, beforeAll } from 'vitest';
import { request } from '../support/http-client.ts';
import { authorize, createDataFolder, LocalService, testSettings } from './local-service.ts';

/** The defaults of `npm start`, as in the examples of the documents. */
export const defaultCredentials = { AUTH_USERNAME: 'admin', AUTH_PASSWORD: 'password' };

/**
 * Starts a service with an empty catalog before the tests of a file, and stops it after them. Another folder than
 * this project's is made by a function.
 */
export function useLocalService(
  environment: Readonly<Record<string, string>> = {},
  folder?: () => Promise<string>,
) {
  const shared = {
    service: {} as LocalService,
    baseUrl: '',
    dataFolder: '',
    headers: { Authorization: '' },
    /** Sends a request with the token. */
    send(method: string, path: string, body?: unknown) {
      const { baseUrl, headers } = shared;
      return request(baseUrl + path, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    },
  };
  beforeAll(async () => {
    shared.dataFolder = await createDataFolder();
    const variables = { DB_PATH: shared.dataFolder, ...environment };
    shared.service = await LocalService.start(variables, await folder?.());
    shared.baseUrl = shared.service.baseUrl;
    shared.headers = await authorize(shared.baseUrl, { ...testSettings, ...environment });
  });
  afterAll(async () => {
    await shared.service.stop?.();
    await rm(shared.dataFolder, { recursive: true, force: true });
  });
  return shared;
}
