/**
 * One minute less than the default lifetime of a token, so that none expires in transit. Where the service is set to a
 * shorter lifetime, the 401 renews it.
 */
const renewAfterMs = 14 * 60 * 1000;

/** As long as the client waits for the next byte of a response. */
const tokenTimeoutMs = 35_000;

/**
 * Shares a login among all calls of a client. It goes on when the call that began it is aborted, because others may wait.
 *
 * @param requestToken - logs in, and returns the token
 */
export function shareLogin(requestToken: () => Promise<string>) {
  let token: Promise<string> | undefined;
  let renewAt = 0;

  /** Forgets a token that was refused. Other calls with it then wait for the same login. */
  const forget = (refused: Promise<string>) => {
    if (token === refused) token = undefined;
  };

  /** @returns a valid token, after a login if necessary */
  const getToken = (): Promise<string> => {
    if (token !== undefined && Date.now() < renewAt) return token;
    const requested = requestToken();
    requested.catch(() => forget(requested));
    renewAt = Date.now() + renewAfterMs;
    token = requested;
    return requested;
  };

  return { getToken, forget };
}

/** Waits for what `getToken` returns, but not for ever, because all calls of the client wait with it. */
export async function awaitToken(token: string | Promise<string>): Promise<string> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no token after ${tokenTimeoutMs / 1000} s`)), tokenTimeoutMs);
  });
  return Promise.race([token, late]).finally(() => clearTimeout(timer));
}
