import type { Service } from '../framework.ts';

/** Hosts whose certificates are from Amazon Trust Services. */
const amazonHost = /\.(amazonaws\.com(\.cn)?|api\.aws|\$\{AWS::URLSuffix\})$/;

/** @returns what is wrong when a function cannot verify the certificate of its database, otherwise `undefined` */
export function findTrustProblem({ provider, functions }: Service): string | undefined {
  for (const [name, definition] of Object.entries(functions)) {
    const { SSL_CERT_FILE, DB_URL = '' } = { ...provider.environment, ...definition.environment };
    const [, host] = /https:\/\/([^/"]+)/.exec(JSON.stringify(DB_URL)) ?? [];
    if (SSL_CERT_FILE === undefined || host === undefined || amazonHost.test(host)) continue;
    const advice = 'take NODE_OPTIONS and SSL_CERT_FILE out of serverless.yml';
    return `${name} trusts Amazon's root certificates alone, and the host of its DB_URL is ${host}: ${advice}.`;
  }
  return undefined;
}
