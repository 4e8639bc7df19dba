import { parseArgs } from 'node:util';
import { runSuite } from './run-suite.ts';
import { conformanceCases, groupNames } from './suite.ts';

const usage = `Usage: npm run conformance -- --base-url URL --username U [--password P] [options]

Checks a running service against every rule of its specification, over HTTP. It makes and deletes books of its own.

  --base-url URL      where the service is; may end in a path, such as the stage of an API Gateway
  --username U        the configured username
  --password P        the configured password, or, better, the environment variable BOOKS_PASSWORD: others may see what a
                      command is called with (write --password=P when it starts with a dash)
  --secret S          the service's SECRET_TOKEN: also test tokens that only its owner can sign
  --host-header H     send this Host instead of that of the URL
  --cors-origin O     the service's CORS_ORIGIN, when it has one
  --token-lifetime S  the service's TOKEN_LIFETIME in seconds, when it is not the default
  --without NAME      leave out a group, or a case by its whole name; may be repeated
  --help              show this text

Groups: ${groupNames.join(', ')}
Exit code: 0 when all cases passed, 1 when not or when the service cannot be used, 2 for wrong usage.`;

const text = { type: 'string' } as const;

const options = {
  'base-url': text,
  username: text,
  password: text,
  secret: text,
  'host-header': text,
  'cors-origin': text,
  'token-lifetime': text,
  without: { type: 'string', multiple: true },
  help: { type: 'boolean' },
} as const;

const values = readOptions();
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const {
  'base-url': baseUrl,
  'host-header': hostHeader,
  'cors-origin': corsOrigin,
  'token-lifetime': lifetime,
  ...rest
} = values;
const { username, password = process.env.BOOKS_PASSWORD, without = [] } = rest;
if (baseUrl === undefined || username === undefined || password === undefined) {
  endWith('--base-url, --username and the password, in BOOKS_PASSWORD or --password, are needed.');
}
if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
  endWith(`${baseUrl} is not a URL with http:// or https://.`);
}
const known = [...groupNames, ...conformanceCases.map(({ name }) => name)];
const unknown = without.find((name) => !known.includes(name));
if (unknown !== undefined) endWith(`There is no group or case ${unknown}.`);

const tokenLifetime = lifetime === undefined ? undefined : Number(lifetime);
if (tokenLifetime !== undefined && !Number.isInteger(tokenLifetime)) endWith(`${lifetime} is not a number of seconds.`);

const settings = { hostHeader, corsOrigin, tokenLifetime };
process.exitCode = await runSuite({ ...rest, baseUrl, username, password, ...settings });

function readOptions() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return endWith((error as Error).message);
  }
}

/** Says what is wrong with the arguments, and ends with the exit code for wrong usage. */
function endWith(message: string): never {
  console.error(`${message}\n--help shows all options.`);
  process.exit(2);
}
