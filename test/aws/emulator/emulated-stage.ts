import { readOutputs } from '../../../tools/smoke/deployed-stage.ts';

/** How a stage on the emulator is reached; the address in the stack's outputs is AWS's. */
export interface EmulatedStage {
  readonly apiId: string;
  readonly baseUrl: string;
  readonly hostHeader: string;
}

/** The conformance cases that the emulator fails and AWS does not. */
export const notEmulated: readonly string[] = [
  // API Gateway takes such a body for JSON, which is in `binaryMediaTypes`; the emulator takes it for text.
  'A body without a Content-Type is read as JSON',
  // Of a header that is sent twice, the emulator drops an empty value.
  'With a key and an empty one, the request is refused and nothing is stored',
];

/**
 * Finds a stage on the emulator of the environment's AWS_ENDPOINT_URL.
 *
 * @param stage - its name
 */
export async function findEmulatedStage(stage: string): Promise<EmulatedStage> {
  const { ServiceEndpoint = '' } = await readOutputs(stage);
  const apiId = new URL(ServiceEndpoint).hostname.split('.', 1)[0] ?? '';
  const { origin, port } = new URL(process.env.AWS_ENDPOINT_URL ?? '');
  return { apiId, baseUrl: `${origin}/${stage}`, hostHeader: `${apiId}.execute-api.localhost:${port}` };
}
