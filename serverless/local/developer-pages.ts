import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const bundle = 'swagger-ui-dist/swagger-ui-bundle.js';

/** The documents for developers, by path: openapi.yaml, and its reference page, made by Swagger UI in the browser. */
const pages = new Map([
  ['/openapi.yaml', { file: import.meta.resolve('../../openapi.yaml'), type: 'application/yaml' }],
  ['/docs', { file: import.meta.resolve('./docs/index.html'), type: 'text/html' }],
  ['/docs/page.css', { file: import.meta.resolve('./docs/page.css'), type: 'text/css' }],
  ['/docs/page.js', { file: import.meta.resolve('./docs/page.js'), type: 'text/javascript' }],
  ['/docs/swagger-ui.css', { file: import.meta.resolve('swagger-ui-dist/swagger-ui.css'), type: 'text/css' }],
  ['/docs/swagger-ui-bundle.js', { file: import.meta.resolve(bundle), type: 'text/javascript' }],
]);

/** Reads the document at a path, if there is one, as it is on the disk now; leads a browser from `/` to the reference page. */
export async function readPage(path: string, accept = '') {
  if (path === '/' && accept.includes('text/html')) {
    return { status: 302, headers: { Location: '/docs', Vary: 'Accept' }, body: '' };
  }
  const page = pages.get(path);
  if (page === undefined) return undefined;
  const body = await readFile(fileURLToPath(page.file), 'utf8');
  return { status: 200, headers: { 'Content-Type': `${page.type}; charset=utf-8` }, body };
}
