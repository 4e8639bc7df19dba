import { forgeToken } from '../../test/support/forge-token.ts';

/** What every function under measurement is configured with. */
export const settings = {
  SECRET_TOKEN: 'a secret that only the benchmark knows and nothing else',
  AUTH_USERNAME: 'librarian',
  AUTH_PASSWORD: 'a password',
  // Lambda's credentials are temporary ones.
  AWS_SESSION_TOKEN: 'x'.repeat(600),
};

const dayInSeconds = 24 * 60 * 60;

/** A token that outlives the benchmark. */
export const token = forgeToken({
  header: { alg: 'HS256', typ: 'JWT' },
  claims: { exp: Math.floor(Date.now() / 1000) + dayInSeconds },
  secret: settings.SECRET_TOKEN,
});
