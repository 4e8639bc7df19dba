import assert from 'node:assert/strict';
import { SecretsManager } from '@aws-sdk/client-secrets-manager';
import { readStack } from '../../../tools/operations/deployed-stage.ts';
import { type EmulatedStage, stage } from './emulated-stage.ts';

/** Rotates both secrets as docs/operations.md says. */
export async function rotate({ run, smoke }: EmulatedStage): Promise<void> {
  const client = new SecretsManager();
  const { CredentialsSecret, SigningSecret } = (await readStack(stage)).outputs;
  const credentials = { username: 'admin', password: 'a new password' };
  await client.putSecretValue({ SecretId: CredentialsSecret, SecretString: JSON.stringify(credentials) });
  await client.putSecretValue({ SecretId: SigningSecret, SecretString: 'a new secret of 32 bytes or more' });
  await run('deploy', '--force');
  assert.equal((await smoke(['token-endpoint', 'authorization'])).status, 0);
}
