import type { HttpClient, HttpRequest, HttpResponse } from '../support/http-client.ts';
import { expectOutcome } from './envelope.ts';
import { outcomes } from './outcomes.ts';

/** The one pair that the service knows. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Well before the 15 minutes of specification 5.5, so that no token expires on its way. */
const renewAfterMs = 10 * 60 * 1000;

/** Holds one token for everybody, and sends one login at a time: deployments throttle POST /token. */
export class Session {
  readonly credentials: Credentials;
  readonly #client: HttpClient;
  #lastLogin: Promise<unknown> = Promise.resolve();
  #token: Promise<string> | undefined;
  #renewAt = 0;

  constructor(client: HttpClient, credentials: Credentials) {
    this.#client = client;
    this.credentials = credentials;
  }

  /**
   * Gives a valid token.
   *
   * @throws an error when the service does not hand one out
   */
  token(): Promise<string> {
    if (this.#token === undefined || Date.now() > this.#renewAt) {
      this.#renewAt = Date.now() + renewAfterMs;
      this.#token = this.#logIn();
      this.#token.catch(() => {
        this.#token = undefined;
      });
    }
    return this.#token;
  }

  /**
   * Sends a request to POST /token once all earlier ones have been answered.
   *
   * @param request - the body and headers
   */
  send(request: Pick<HttpRequest, 'body' | 'headers'>): Promise<HttpResponse> {
    const answer = this.#lastLogin.then(() =>
      this.#client.send({ method: 'POST', path: '/token', ...request }),
    );
    this.#lastLogin = answer.catch(() => {});
    return answer;
  }

  async #logIn(): Promise<string> {
    const answer = await this.send({
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(this.credentials),
    });
    const data = expectOutcome(answer, outcomes.tokenGenerated) as { readonly token: string } | null;
    return data?.token ?? '';
  }
}
