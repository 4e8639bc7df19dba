import { readDescription } from './description-file.ts';
import { makePostmanCollection } from './postman-collection.ts';
import { runTool } from './run-tool.ts';

/** A file that is kept in the repository, with the text that it should have. */
export interface GeneratedFile {
  /** Below the folder of the service. */
  readonly path: string;
  readonly text: string;
}

/** Makes the files that are derived from openapi.yaml, which has to be current itself. */
export async function makeClientFiles(): Promise<readonly GeneratedFile[]> {
  return [
    {
      path: 'tools/client/types.ts',
      // A default says what the service takes for a member that is left out, so that it may be left out.
      text: await runTool('openapi-typescript', [
        'openapi.yaml',
        '--default-non-nullable',
        'false',
        '--immutable',
      ]),
    },
    { path: 'tools/client/book-catalog.postman_collection.json', text: await makePostmanCollection() },
  ];
}

/** Makes openapi.yaml, whose generated part comes from the sources of the service. */
export async function makeDescription(): Promise<GeneratedFile> {
  return { path: 'openapi.yaml', text: (await readDescription()).current };
}
