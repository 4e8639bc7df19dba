import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { readOutputs } from '../../../tools/smoke/deployed-stage.ts';

/** The conformance cases that the emulator fails and AWS does not. */
const notEmulated = [
  // API Gateway treats such a body as JSON, which is in `binaryMediaTypes`; the emulator treats it as text.
  'A body of the Content-Type undefined is read as JSON',
  // The emulator drops an empty value of a repeated header.
  'With a key and an empty one, the request is refused and nothing is stored',
];

/** Finds the address of a stage on the emulator of the environment's AWS_ENDPOINT_URL; the stack's outputs have AWS's. */
export async function findEmulatedStage(stage: string) {
  const { ServiceEndpoint = '' } = await readOutputs(stage);
  const apiId = new URL(ServiceEndpoint).hostname.split('.', 1)[0] ?? '';
  const { origin, port } = new URL(process.env.AWS_ENDPOINT_URL ?? '');
  return { apiId, baseUrl: `${origin}/${stage}`, hostHeader: `${apiId}.execute-api.localhost:${port}` };
}

// `npm run smoke` at the address of the stage on the emulator.
if (process.argv[1] === import.meta.filename) {
  const text = { type: 'string', default: '' } as const;
  const { values } = parseArgs({ options: { stage: text, report: text } });
  const { baseUrl, hostHeader } = await findEmulatedStage(values.stage);
  const without = notEmulated.flatMap((name) => ['--without', name]);
  const args = ['--stage', values.stage, '--base-url', baseUrl, '--host-header', hostHeader, ...without];
  if (values.report !== '') args.push('--report', values.report);
  const { status } = spawnSync(process.execPath, ['tools/smoke/main.ts', ...args], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
