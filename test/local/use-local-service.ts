import { afterAll, beforeAll } from 'vitest';
import { request } from '../../conformance/http-client.ts';
import { LocalService, validToken } from '../../tools/local/local-service.ts';

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
    headers: { Authorization: validToken },
    /** Sends a request with the token. */
    send(method: string, path: string, body?: unknown) {
      return request(shared.baseUrl + path, {
        method,
        headers: shared.headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    },
  };
  beforeAll(async () => {
    shared.service = await LocalService.start(environment, await folder?.());
    shared.baseUrl = shared.service.baseUrl;
  });
  afterAll(() => shared.service.stop?.());
  return shared;
}
