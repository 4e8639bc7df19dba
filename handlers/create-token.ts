import { createCredentialsMatcher } from '../lib/auth/credentials.ts';
import { parseLogin } from '../lib/auth/parse-login.ts';
import { createTokenSigner } from '../lib/auth/token.ts';
import { loadConfig } from '../lib/config.ts';
import { publicEndpoint } from '../lib/endpoint.ts';
import { HttpError } from '../lib/http/http-error.ts';
import { outcomes } from '../lib/http/outcomes.ts';

const config = loadConfig(['credentials']);
const matchesCredentials = createCredentialsMatcher(config.credentials);
const signToken = createTokenSigner(config.signingSecret);

/** POST /token */
export const handler = publicEndpoint(config, outcomes.tokenGenerated, async (event) => {
  const login = parseLogin(event);
  if (login === undefined) throw new HttpError(outcomes.invalidRequestPayload);
  if (!matchesCredentials(login)) throw new HttpError(outcomes.invalidCredentials);
  return { data: { token: await signToken() } };
});
