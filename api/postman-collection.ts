import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTool } from './run-tool.ts';

/** A request or a folder of requests, as far as it is changed here. */
interface Item {
  readonly name: string;
  readonly item?: readonly Item[];
  readonly request?: { readonly url: { readonly query: readonly object[] } };
}

/** Members that are new with each conversion, or that nobody needs to send a request. */
const leftOut: ReadonlySet<string> = new Set(['id', '_postman_id', 'response']);

const storeToken = [
  'const { data } = pm.response.json();',
  "if (data !== null) pm.collectionVariables.set('token', data.token);",
];

/** Makes a collection for Postman, Bruno and their like, in which the request that logs in keeps the token for the others. */
export async function makePostmanCollection(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'book-catalog-'));
  try {
    const file = join(folder, 'collection.json');
    const options = 'parametersResolution=Example,folderStrategy=Tags,includeAuthInfoInExample=false';
    await runTool('openapi2postmanv2', ['-s', 'openapi.yaml', '-o', file, '-O', options]);
    const { item, variable, ...rest } = JSON.parse(await readFile(file, 'utf8'), omit);
    const collection = {
      ...rest,
      item: item.map(adapt),
      auth: {
        type: 'apikey',
        apikey: [
          { key: 'in', value: 'header', type: 'string' },
          { key: 'key', value: 'Authorization', type: 'string' },
          { key: 'value', value: '{{token}}', type: 'string' },
        ],
      },
      variable: [...variable, { key: 'token', value: '' }],
    };
    return `${JSON.stringify(collection, null, 2)}\n`;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function omit(key: string, value: unknown): unknown {
  return leftOut.has(key) ? undefined : value;
}

/** Query parameters are optional: they are there to be switched on and filled in. Values of their own would be random. */
function adapt(item: Item): object {
  if (item.item !== undefined) return { ...item, item: item.item.map(adapt) };
  const { name, request } = item;
  const query = request?.url.query.map((parameter) => ({ ...parameter, value: '', disabled: true }));
  const event = [{ listen: 'test', script: { type: 'text/javascript', exec: storeToken } }];
  return {
    name,
    ...(name === 'Log in' && { event }),
    request: { ...request, url: { ...request?.url, query } },
  };
}
