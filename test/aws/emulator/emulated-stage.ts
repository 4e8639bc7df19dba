import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { readOutputs } from '../../../tools/smoke/deployed-stage.ts';

/** How a stage on the emulator is reached; the address in the stack's outputs is AWS's. */
interface EmulatedStage {
  readonly apiId: string;
  readonly baseUrl: string;
  readonly hostHeader: string;
}

/** The conformance cases that the emulator fails and AWS does not. */
const notEmulated = [
  // API Gateway takes such a body for JSON, which is in `binaryMediaTypes`; the emulator takes it for text.
  'A body of the Content-Type undefined is read as JSON',
  // Of a header that is sent twice, the emulator drops an empty value.
  'With a key and an empty one, the request is refused and nothing is stored',
];

/** Finds a stage on the emulator of the environment's AWS_ENDPOINT_URL. */
export async function findEmulatedStage(stage: string): Promise<EmulatedStage> {
  const { ServiceEndpoint = '' } = await readOutputs(stage);
  const apiId = new URL(ServiceEndpoint).hostname.split('.', 1)[0] ?? '';
  const { origin, port } = new URL(process.env.AWS_ENDPOINT_URL ?? '');
  return { apiId, baseUrl: `${origin}/${stage}`, hostHeader: `${apiId}.execute-api.localhost:${port}` };
}

// `npm run smoke` of a project on the emulator: the same, at the address that the stage has there.
if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { stage: { type: 'string', default: '' } } });
  const { baseUrl, hostHeader } = await findEmulatedStage(values.stage);
  const without = notEmulated.flatMap((name) => ['--without', name]);
  const args = ['--stage', values.stage, '--base-url', baseUrl, '--host-header', hostHeader, ...without];
  const { status } = spawnSync(process.execPath, ['tools/smoke/main.ts', ...args], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
