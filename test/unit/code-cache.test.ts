import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addCodeCache } from '../../serverless/packaging/code-cache.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

test('a bundle that fails when it is loaded is reported without its text', async () => {
  const folder = await makeTemporaryFolder();
  const text = `const text='${'x'.repeat(100_000)}';nothing.there;const a=1;export{a as handler};`;
  await writeFile(join(folder, 'get-book.mjs'), text);

  const error = await addCodeCache(folder, 'get-book').catch(({ message }) => message);

  expect(error).toMatch(/^The bundle of get-book fails when it is loaded:\nReferenceError: nothing is not defined\n/);
  expect(error.length).toBeLessThan(1_000);
});
