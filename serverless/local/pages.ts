import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A document that the local service has for developers, besides the API. */
export interface Page {
  readonly contentType: string;
  readonly body: string | Buffer;
}

const html = 'text/html; charset=utf-8';
const css = 'text/css; charset=utf-8';
const script = 'text/javascript; charset=utf-8';

/**
 * The documents by the path of their GET request. Each is read when it is requested: openapi.yaml, and the reference page
 * that Swagger UI makes of it in the browser.
 */
export const pages: ReadonlyMap<string, () => Promise<Page>> = new Map([
  [
    '/openapi.yaml',
    serve(join(import.meta.dirname, '../../openapi.yaml'), 'application/yaml; charset=utf-8'),
  ],
  ['/docs', serve(join(import.meta.dirname, 'docs/index.html'), html)],
  ['/docs/page.css', serve(join(import.meta.dirname, 'docs/page.css'), css)],
  ['/docs/page.js', serve(join(import.meta.dirname, 'docs/page.js'), script)],
  ['/docs/swagger-ui.css', serve(fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui.css')), css)],
  [
    '/docs/swagger-ui-bundle.js',
    serve(fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')), script),
  ],
]);

function serve(file: string, contentType: string): () => Promise<Page> {
  return async () => ({ contentType, body: await readFile(file) });
}
