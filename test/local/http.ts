import { checkAnswer } from '../support/contract/check-answer.ts';
import { testSettings } from './local-service.ts';

/** An answer of the service, its body parsed. */
export interface Answer {
  readonly status: number;
  readonly contentType: string | null;
  readonly envelope: { readonly status: number; readonly message: string; readonly data: unknown };
}

/** Sends a request and reads the envelope of its answer, which has to be one that openapi.yaml describes. */
export async function request(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, { ...init, headers: { 'Accept-Encoding': 'identity', ...init.headers } });
  const { pathname, search } = new URL(url);
  checkAnswer({
    request: {
      method: init.method ?? 'GET',
      path: pathname + search,
      headers: Object.fromEntries(new Headers(init.headers)),
      body: typeof init.body === 'string' ? init.body : undefined,
    },
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: Buffer.from(await response.clone().arrayBuffer()),
  });
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    envelope: (await response.json()) as Answer['envelope'],
  };
}

/** Logs in with {@link testSettings} and gives the header that opens the protected endpoints. */
export async function authorize(baseUrl: string): Promise<{ Authorization: string }> {
  const login = { username: testSettings.AUTH_USERNAME, password: testSettings.AUTH_PASSWORD };
  const { envelope } = await request(`${baseUrl}/token`, { method: 'POST', body: JSON.stringify(login) });
  return { Authorization: (envelope.data as { token: string }).token };
}
