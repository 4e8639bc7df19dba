import { createCredentialsMatcher, loginFields } from '../lib/auth/credentials.ts';
import { createTokenSigner } from '../lib/auth/token.ts';
import { loadConfig, warnOfWeakSecret } from '../lib/config.ts';
import { publicEndpoint } from '../lib/endpoint.ts';
import { readFields } from '../lib/http/json-body.ts';
import { HttpError, outcomes } from '../lib/http/outcomes.ts';

const config = loadConfig(['signingSecret', 'username', 'password', 'tokenLifetime']);
warnOfWeakSecret(config);
const matchesCredentials = createCredentialsMatcher(config);
const signToken = createTokenSigner(config.signingSecret, config.tokenLifetime);
const success = { status: 200, message: 'Token generated successfully' };

/** POST /token */
export const handler = publicEndpoint(config, success, async (event) => {
  const login = await readFields(event, loginFields, outcomes.invalidRequestPayload);
  if (!matchesCredentials(login)) throw new HttpError(outcomes.invalidCredentials);
  return { data: { token: await signToken() }, headers: { 'Cache-Control': 'no-store' } };
});
