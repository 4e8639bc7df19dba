// biome-ignore-all lint/suspicious/noTemplateCurlyInString: CloudFormation replaces these
import { expect, test } from 'vitest';
import type { Serverless } from '../../../../serverless/framework.ts';
import PackagingPlugin from '../../../../serverless/packaging/plugin.ts';

/** Packages a function whose module does not exist. */
async function packageFunction(environment: object, SSL_CERT_FILE?: string): Promise<void> {
  const functions = { getBook: { handler: 'handlers/none.handler', environment } };
  const service = { functions, provider: { environment: { SSL_CERT_FILE } } };
  const serverless = { serviceDir: import.meta.dirname, service, classes: { Error } };
  await new PackagingPlugin(serverless as unknown as Serverless).hooks['before:package:createDeploymentArtifacts']?.();
}

test.each(['https://db.example.com/books', { 'Fn::Sub': 'https://dynamodb.${AWS::Region}.example.com/books' }])(
  'a package whose functions trust only the certificates of Amazon is refused for the database %j',
  async (DB_URL) => {
    await expect(packageFunction({ DB_URL }, '/var/task/amazon-roots.pem')).rejects.toThrow(
      /^getBook trusts Amazon's root certificates alone, and the host of its DB_URL is .*example\.com: .*$/,
    );
  },
);

test.each([
  [undefined, 'https://db.example.com/books'],
  ['/var/task/amazon-roots.pem', 'http://127.0.0.1:8000/books'],
  ['/var/task/amazon-roots.pem', 'https://dynamodb.eu-west-1.amazonaws.com/books'],
  ['/var/task/amazon-roots.pem', { 'Fn::Sub': ['https://dynamodb.${AWS::Region}.${AWS::URLSuffix}/${Name}', {}] }],
])('a package with SSL_CERT_FILE %j and the database %j is made', async (file, DB_URL) => {
  await expect(packageFunction({ DB_URL }, file)).rejects.toThrow('handlers/none.ts');
});
