import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditLockFile, findLockFiles } from '../../../.ci/security/audit.ts';

const manifest = { name: 'left', version: '1.0.0' };

const advisory = {
  id: 1,
  url: 'https://example.com/1',
  title: 'It falls over',
  severity: 'high',
  vulnerable_versions: '<2',
  cwe: [],
  cvss: {},
};

/** A registry that knows one package, and says of it what it is given. */
const registry =
  (advisories: object): RequestListener =>
  (request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify(
        request.url?.startsWith('/-/npm/v1/security/advisories/bulk')
          ? advisories
          : { name: 'left', versions: { '1.0.0': manifest }, 'dist-tags': { latest: '1.0.0' } },
      ),
    );
  };

const withoutAuditEndpoint: RequestListener = (_request, response) => {
  response.writeHead(405).end();
};

test.each<[string, RequestListener, object]>([
  ['without an advisory', registry({}), { found: [], notChecked: [] }],
  [
    'with one',
    registry({ left: [advisory] }),
    { found: ['package-lock.json: vulnerable: left (high)'], notChecked: [] },
  ],
  [
    'without an audit endpoint',
    withoutAuditEndpoint,
    {
      found: [],
      notChecked: [
        expect.stringMatching(/^package-lock\.json: known vulnerabilities \(405 Method Not Allowed.*\)$/),
      ],
    },
  ],
])('a lock file is held against a registry %s', async (_, listener, expected) => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = await mkdtemp(join(tmpdir(), 'book-catalog-audit-'));
  try {
    const project = { name: 'victim', version: '1.0.0', dependencies: { left: '1.0.0' } };
    const packages = { '': project, 'node_modules/left': { version: '1.0.0' } };
    await writeFile(join(folder, 'package.json'), JSON.stringify(project));
    await writeFile(
      join(folder, 'package-lock.json'),
      JSON.stringify({ ...project, lockfileVersion: 3, requires: true, packages }),
    );

    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await auditLockFile(folder, 'package-lock.json', ['--registry', url])).toEqual(expected);
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test('every lock file that git knows is looked at', () => {
  expect(findLockFiles()).toEqual(
    expect.arrayContaining([
      'package-lock.json',
      'tools/api/package-lock.json',
      'tools/bench/package-lock.json',
    ]),
  );
});
