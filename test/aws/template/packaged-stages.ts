import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { packageService } from '../../support/package-service.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with the packages `prod`, `dev`, `dev-with-all` and `temporary`. */
    packagesFolder: string;
  }
}

/** A permissions boundary. */
export const boundary = 'arn:aws:iam::123456789012:policy/book-catalog-deployer-dev-Boundary-1A2B3C4D5E6F7';

/** Every optional parameter. */
export const allParameters = {
  corsOrigin: 'https://docs.example.com',
  tokenLifetime: 60,
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/12345678-1234-1234-1234-123456789012',
  hostedZoneId: 'Z0123456789ABCDEFGHIJ',
  requestsPerAddress: 600,
  alarmEmail: 'oncall@example.com',
  permissionsBoundary: boundary,
};

/** Packages the stages once, for all tests of the template. */
export default async function packageStages(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'book-catalog-packages-'));
  // In sequence, because the framework uses one folder for all packages.
  await packageService(join(folder, 'prod'), 'prod');
  await packageService(join(folder, 'dev'), 'dev');
  await packageService(join(folder, 'dev-with-all'), 'dev', toOptions(allParameters));
  await packageService(join(folder, 'temporary'), 'alice');
  project.provide('packagesFolder', folder);
  return () => rm(folder, { recursive: true, force: true });
}

function toOptions(parameters: object): readonly string[] {
  return Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
}
