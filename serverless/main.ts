/** The command `serverless` of the scripts in package.json. */

// npm takes options without `--` before them for itself: `npm run remove --stage prod` would remove the stage dev.
for (const option of ['stage', 'region', 'param', 'timestamp', 'host', 'httpPort']) {
  if (process.env[`npm_config_${option.toLowerCase()}`] === undefined) continue;
  const { npm_lifecycle_event: script } = process.env;
  const command = script === 'start' ? 'npm start' : `npm run ${script}`;
  console.error(`npm took --${option} for itself. Write -- before the options: ${command} -- --${option} ...`);
  process.exit(2);
}
// @ts-expect-error It has no types.
await import('serverless/bin/serverless.js');
