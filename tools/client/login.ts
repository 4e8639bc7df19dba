import { untilAborted } from './retries.ts';

/** A login that several calls may wait for. */
interface Login {
  readonly promise: Promise<string>;
  readonly abort: () => void;
  readonly renewAt: number;
  /** Undefined until the service has responded. */
  token?: string;
  /** How many calls wait for it. */
  waiting: number;
}

/**
 * One minute less than the default lifetime of a token, so that none expires in transit. Where the service is set to a
 * shorter lifetime, the 401 renews it.
 */
const renewAfterMs = 14 * 60 * 1000;

/**
 * Shares a login among all calls of a client. A login is aborted when no call waits for it any longer.
 *
 * @param requestToken - logs in, and returns the token
 */
export function shareLogin(requestToken: (signal: AbortSignal) => Promise<string>) {
  let login: Login | undefined;

  const logIn = (): Login => {
    const controller = new AbortController();
    const promise = requestToken(controller.signal);
    return { promise, abort: () => controller.abort(), renewAt: Date.now() + renewAfterMs, waiting: 0 };
  };

  return {
    /** @returns a valid token, after a login if necessary */
    async getToken(signal: AbortSignal | undefined): Promise<string> {
      if (login === undefined || Date.now() >= login.renewAt) login = logIn();
      const current = login;
      current.waiting += 1;
      try {
        current.token = await untilAborted(current.promise, signal);
        return current.token;
      } catch (error) {
        if (current.waiting === 1 && login === current) login = undefined;
        throw error;
      } finally {
        current.waiting -= 1;
        if (current.waiting === 0) current.abort();
      }
    },
    /** Forgets a token that was refused. Other calls with it then wait for the same login. */
    forget(token: string): void {
      if (login?.token === token) login = undefined;
    },
  };
}
