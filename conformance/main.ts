import { parseArgs } from 'node:util';
import { runSuite } from './run-suite.ts';
import { conformanceCases, groupNames } from './suite.ts';

const usage = `Usage: npm run conformance -- --base-url URL --username U --password P [options]

Checks a running service against every rule of its specification, over HTTP. It makes and deletes books of its own.

  --base-url URL      where the service is; may end in a path, such as the stage of an API Gateway
  --username U        the configured username
  --password P        the configured password (write --password=P when it starts with a dash)
  --secret S          the service's SECRET_TOKEN: also test tokens that only its owner can sign
  --host-header H     send this Host instead of that of the URL
  --cors-origin O     the service's CORS_ORIGIN, when it has one
  --without NAME      leave out a group, or a case by its whole name; may be repeated
  --help              show this text

Groups: ${groupNames.join(', ')}
Exit code: 0 when all cases passed, 1 when not or when the service cannot be used, 2 for wrong usage.`;

const text = { type: 'string' } as const;

process.exitCode = await main();

async function main(): Promise<number> {
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions();
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  if (options !== undefined) return runSuite(options);
  console.log(usage);
  return 0;
}

/** @returns what to test, or `undefined` when help was asked for */
function readOptions() {
  if (process.env.npm_config_base_url)
    throw new Error('npm took --base-url for itself: write -- before the options');
  const { values } = parseArgs({
    options: {
      'base-url': text,
      username: text,
      password: text,
      secret: text,
      'host-header': text,
      'cors-origin': text,
      without: { type: 'string', multiple: true },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return undefined;
  const { 'base-url': baseUrl, username, password, secret, without } = values;
  if (baseUrl === undefined || username === undefined || password === undefined) {
    throw new Error('--base-url, --username and --password are needed');
  }
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
    throw new Error(`${baseUrl} is not a URL with http:// or https://`);
  }
  const known = new Set([...groupNames, ...conformanceCases.map(({ name }) => name)]);
  const unknown = without?.find((name) => !known.has(name));
  if (unknown !== undefined) throw new Error(`there is no group or case ${unknown}`);
  const [hostHeader, corsOrigin] = [values['host-header'], values['cors-origin']];
  return { baseUrl, username, password, secret, hostHeader, corsOrigin, without };
}
