import { afterAll } from 'vitest';
import { request } from '../../conformance/http-client.ts';
import { LocalService, validToken } from './local-service.ts';

/** Starts a service with an empty catalog for the tests of a file; of another folder than this project's, if one is given. */
export async function useLocalService(environment: Readonly<Record<string, string>> = {}, folder?: string) {
  const service = await LocalService.start(environment, folder);
  afterAll(() => service.stop());
  const { baseUrl } = service;
  const headers = { Authorization: validToken };
  /** Sends a request with the token. */
  const send = (method: string, path: string, body?: unknown) =>
    request(baseUrl + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  return { service, baseUrl, headers, send };
}
