import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import type { TestProject } from 'vitest/node';
import { functionNames } from '../../../serverless/functions.ts';
import { loopbackCertificate } from '../../fakes/loopback-certificate.ts';
import { packageService } from '../../support/package-service.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * The folder with a sub-folder for each unpacked function, by its name in serverless.yml, and with `loopback.pem`, the
     * certificate for `NODE_EXTRA_CA_CERTS`.
     */
    functionsFolder: string;
  }
}

/**
 * Packages the service as a deploy does, and unpacks the zips as Lambda does.
 *
 * @param folder - an empty folder, which gets a sub-folder for each function and the zips in `package`
 * @param checkout - the folder of the service; this one by default
 */
export async function packageFunctions(folder: string, checkout?: string): Promise<void> {
  const packageFolder = join(folder, 'package');
  await packageService(packageFolder, 'prod', [], checkout);
  for (const name of functionNames) {
    const files = unzipSync(await readFile(join(packageFolder, `${name}.zip`)));
    for (const [path, content] of Object.entries(files)) {
      const file = join(folder, name, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
  }
}

/** Installs the runtime client and provides the packaged functions to all tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  execFileSync(join(import.meta.dirname, 'install'), { stdio: 'inherit' });
  const folder = await mkdtemp(join(tmpdir(), 'book-catalog-functions-'));
  await packageFunctions(folder);
  await writeFile(join(folder, 'loopback.pem'), loopbackCertificate.cert);
  project.provide('functionsFolder', folder);
  return () => rm(folder, { recursive: true, force: true });
}
