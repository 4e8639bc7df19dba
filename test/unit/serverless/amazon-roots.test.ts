import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { expect, test } from 'vitest';

const issuers = /^O=Amazon$|^CN=Starfield Services Root Certificate Authority - G2$/m;
const fingerprints = (certificates: readonly string[]) =>
  certificates.map((text) => new X509Certificate(text).fingerprint256).toSorted();

test('amazon-roots.pem has each root certificate of Amazon Trust Services that Node has, and no others', () => {
  const text = readFileSync('serverless/packaging/amazon-roots.pem', 'utf8');
  const ofFile = text.match(/^-----BEGIN CERTIFICATE-----$[^-]+^-----END CERTIFICATE-----$/gm) ?? [];
  const ofNode = rootCertificates.filter((certificate) => issuers.test(new X509Certificate(certificate).subject));

  expect(ofNode.length).toBeGreaterThan(0);
  expect(fingerprints(ofFile)).toEqual(fingerprints(ofNode));
});
