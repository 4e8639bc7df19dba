/** The command `serverless` of the scripts in package.json. */

import { refuseOptionsTakenByNpm } from './command-line.ts';

refuseOptionsTakenByNpm(['stage', 'region', 'param', 'timestamp', 'host', 'httpPort']);
// @ts-expect-error It has no types.
await import('serverless/bin/serverless.js');
