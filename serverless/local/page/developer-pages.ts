import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const bundle = 'swagger-ui-dist/swagger-ui-bundle.js';

/** They load nothing from other origins. No page can show them in a frame, where a click could send requests unnoticed. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The servers in openapi.yaml, among which this one may not be. */
const servers = /^servers:\n(?: .*\n)+/m;

/** The developer pages by path (specification 1.8): openapi.yaml, and what Swagger UI makes of it. */
const pages = new Map([
  ['/openapi.yaml', { file: import.meta.resolve('../../../openapi.yaml'), type: 'application/yaml' }],
  ['/docs', { file: import.meta.resolve('./index.html'), type: 'text/html' }],
  ['/docs/page.js', { file: import.meta.resolve('./page.js'), type: 'text/javascript' }],
  ['/docs/swagger-ui.css', { file: import.meta.resolve('swagger-ui-dist/swagger-ui.css'), type: 'text/css' }],
  ['/docs/swagger-ui-bundle.js', { file: import.meta.resolve(bundle), type: 'text/javascript' }],
]);

/**
 * Reads a developer page as it is on the disk now. One slash at the end of its path makes no difference (rule 1.6). At
 * `/`, a browser is sent to `/docs`.
 *
 * @returns the response, or `undefined` for another path
 */
export async function readDeveloperPage(path: string, accept = '') {
  if (path === '/' && accept.includes('text/html')) {
    return { status: 302, headers: { Location: '/docs', Vary: 'Accept' }, body: '' };
  }
  const page = pages.get(path.replace(/\/$/, ''));
  if (page === undefined) return undefined;
  const text = await readFile(fileURLToPath(page.file), 'utf8');
  const body = page.type === 'application/yaml' ? text.replace(servers, 'servers: [{ url: / }]\n') : text;
  const headers = { 'Content-Type': `${page.type}; charset=utf-8`, 'Content-Security-Policy': policy };
  return { status: 200, headers, body };
}
