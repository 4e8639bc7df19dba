import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readDescription } from './description-file.ts';

/** What the page does for those who read it there. */
const tryItHere = `
## Try it here

Press *Test Request* at *Log in*, and *Send*. This page keeps the token and sends it with your other requests until you
close or reload it; nothing needs to be copied. Every 15 minutes, log in again.
`;

/**
 * Makes the reference page: one HTML file with everything in it. It may speak to the service and to nobody else, which
 * its content security policy enforces.
 *
 * @param baseUrl - the service that requests from the page go to
 * @throws an Error when the packages of api/package.json are not installed
 */
export async function makeReferencePage(baseUrl: string): Promise<string> {
  const { text } = await readDescription();
  const [scalar, session] = await Promise.all(
    ['node_modules/@scalar/api-reference/dist/browser/standalone.js', 'page-session.js'].map((file) =>
      readFile(join(import.meta.dirname, file), 'utf8'),
    ),
  );
  const { info, ...rest } = parse(text);
  const description = {
    ...rest,
    info: { ...info, description: `${tryItHere}\n${info.description}` },
    servers: [{ url: baseUrl }],
  };
  const configuration = {
    content: description,
    authentication: { preferredSecurityScheme: 'token' },
    // Nothing of a public service of Scalar's: no proxy, fonts, telemetry, assistant or client.
    proxyUrl: '',
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    defaultOpenAllTags: true,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  };
  const policy = [
    "default-src 'none'",
    "script-src 'unsafe-inline'",
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    'font-src data:',
    `connect-src ${new URL(baseUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${description.info.title}: API reference</title>
<div id="reference"></div>
<script>${escapeScript(session)}
keepToken(${escapeScript(JSON.stringify(baseUrl))});</script>
<script>${escapeScript(scalar)}</script>
<script>Scalar.createApiReference('#reference', ${escapeScript(JSON.stringify(configuration))});</script>
</html>
`;
}

/** What would end a script element early, or begin another inside it, in strings and templates. */
function escapeScript(text = ''): string {
  return text.replaceAll(/<(?=\/script|script|!--)/gi, '\\x3c');
}
