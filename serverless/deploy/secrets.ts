import {
  InvalidRequestException,
  ResourceNotFoundException,
  SecretsManager,
  type SecretsManagerClientConfig,
} from '@aws-sdk/client-secrets-manager';
import { type Setting, settings } from '../../lib/settings.ts';
import type { StageStack } from './stack.ts';

const { signingSecret, username, password } = settings;

/** Whether the text of a secret has its shape, by the output of the stack, and what it has to be. */
const shapes: Readonly<Record<string, { readonly isRight: (text: string) => boolean; readonly description: string }>> =
  {
    SigningSecret: {
      isRight: (text) => signingSecret.kind.parse(text, {}) !== undefined,
      description: signingSecret.kind.description,
    },
    CredentialsSecret: {
      isRight: (text) => {
        const login = parseObject(text);
        const isText = (value: unknown, { kind }: Setting) =>
          typeof value === 'string' && kind.parse(value, {}) !== undefined;
        return isText(login.username, username) && isText(login.password, password);
      },
      description: `JSON like {"username":"…","password":"…"}, each ${password.kind.description}`,
    },
  };

/**
 * Looks at the shape of what the secrets of a stage hold. CloudFormation gives whatever is there to the functions, and
 * these do not start without it.
 *
 * @returns what is wrong, without a value, and what to do, or `undefined`
 */
export async function findSecretProblem(
  { outputs }: StageStack,
  config: SecretsManagerClientConfig,
): Promise<string | undefined> {
  const client = new SecretsManager(config);
  for (const [output, { isRight, description }] of Object.entries(shapes)) {
    const SecretId = outputs[output];
    if (SecretId === undefined) continue; // the first deploy has failed
    try {
      const { SecretString = '' } = await client.getSecretValue({ SecretId });
      if (isRight(SecretString)) continue;
      return `The secret ${SecretId} has to hold ${description} (docs/operations.md, "Rotate the secrets").`;
    } catch (error) {
      // This may be the deploy that replaces a deleted secret.
      if (error instanceof ResourceNotFoundException) continue;
      const isToBeDeleted = error instanceof InvalidRequestException;
      const remedy = isToBeDeleted ? ` Restore it: aws secretsmanager restore-secret --secret-id ${SecretId}` : '';
      return `The secret ${SecretId} cannot be read: ${(error as Error).message}${remedy}`;
    }
  }
  return undefined;
}

function parseObject(text: string): { readonly username?: unknown; readonly password?: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
