import assert from 'node:assert/strict';
import { Lambda } from '@aws-sdk/client-lambda';
import { SecretsManager } from '@aws-sdk/client-secrets-manager';
import { readStack } from '../../../tools/operations/deployed-stage.ts';
import { type EmulatedStage, StackName, stage } from './emulated-stage.ts';

/** Rotates both secrets as docs/operations.md says, and asks the probe. */
export async function rotate({ run, smoke }: EmulatedStage): Promise<void> {
  await checkProbe();
  const client = new SecretsManager();
  const { CredentialsSecret, SigningSecret } = (await readStack(stage)).outputs;
  const credentials = { username: 'admin', password: 'a new password' };
  await client.putSecretValue({ SecretId: CredentialsSecret, SecretString: JSON.stringify(credentials) });
  await client.putSecretValue({ SecretId: SigningSecret, SecretString: 'a new secret of 32 bytes or more' });
  await run('deploy', '--force');
  assert.equal((await smoke(['token-endpoint', 'authorization'])).status, 0);
  await checkProbe();
}

async function checkProbe(): Promise<void> {
  const { FunctionError, Payload } = await new Lambda().invoke({ FunctionName: `${StackName}-probeService` });
  assert.equal(FunctionError, undefined, Payload?.transformToString());
}
