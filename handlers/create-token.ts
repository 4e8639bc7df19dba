import { createCredentialsMatcher } from '../lib/auth/credentials.ts';
import { parseLogin } from '../lib/auth/parse-login.ts';
import { createTokenSigner } from '../lib/auth/token.ts';
import { loadConfig } from '../lib/config.ts';
import { publicEndpoint } from '../lib/endpoint.ts';
import { HttpError } from '../lib/http/http-error.ts';
import { outcomes } from '../lib/http/outcomes.ts';

const { signingSecret, credentials } = loadConfig(['signingSecret', 'credentials']);
const matchesCredentials = createCredentialsMatcher(credentials);
const signToken = createTokenSigner(signingSecret);

/** POST /token */
export const handler = publicEndpoint(outcomes.tokenGenerated, async (event) => {
  const login = parseLogin(event);
  if (login === undefined) throw new HttpError(outcomes.invalidRequestPayload);
  if (!matchesCredentials(login)) throw new HttpError(outcomes.invalidCredentials);
  return { token: await signToken() };
});
