/** The framework's command, for the scripts in package.json. In JavaScript, so that an old Node can run the checks. */

import { readFileSync } from 'node:fs';

// Without `--`, npm takes the options for itself: `npm run remove --stage prod` would remove the stage dev.
for (const option of ['stage', 'region', 'param', 'timestamp', 'host', 'port']) {
  if (process.env[`npm_config_${option.toLowerCase()}`] === undefined) continue;
  const { npm_lifecycle_event: script } = process.env;
  const command = script === 'start' ? 'npm start' : `npm run ${script}`;
  endWith(`npm took --${option} for itself. Write -- before the options: ${command} -- --${option} ...`);
}
try {
  import.meta.resolve('serverless/bin/serverless.js');
} catch {
  endWith('Run npm ci --include=dev first.'); // under NODE_ENV=production, npm ci leaves the framework out
}
// On Linux, npm ci installs a newer Node for the scripts.
const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const leastNode = engines.node.replace('>=', '');
const isOld = process.versions.node.localeCompare(leastNode, undefined, { numeric: true }) < 0;
if (isOld) endWith(`Node ${leastNode} or newer is needed; this is ${process.version}.`);
await import('serverless/bin/serverless.js');

/**
 * @param {string} message
 * @returns {never}
 */
function endWith(message) {
  console.error(message);
  process.exit(2);
}
