import { generateKeyPairSync, sign } from 'node:crypto';

/** A key and a certificate in PEM, as `node:tls` takes them. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

const oneDayMs = 86_400_000;

/** Object identifiers in DER. */
const oids = {
  commonName: '550403',
  subjectAltName: '551d11',
  ecdsaWithSha256: '2a8648ce3d040302',
};

/** Makes a certificate for 127.0.0.1 that is valid for a day (RFC 5280). Node can only parse certificates. */
export function createSelfSignedCertificate(): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(oids.ecdsaWithSha256));
  const name = sequence(der(0x31, sequence(oid(oids.commonName), der(0x0c, Buffer.from('faulty proxy')))));
  const address = sequence(der(0x87, Buffer.from([127, 0, 0, 1])));
  const toBeSigned = sequence(
    der(0xa0, integer(2)), // version 3
    integer(1),
    algorithm,
    name,
    sequence(time(Date.now() - oneDayMs), time(Date.now() + oneDayMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid(oids.subjectAltName), der(0x04, address)))),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', toBeSigned, privateKey));
  const base64 = sequence(toBeSigned, algorithm, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const header = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.from([value]));
}

function time(milliseconds: number): Buffer {
  const text = new Date(milliseconds).toISOString().replace(/^20|[-:T]|\.\d+/g, '');
  return der(0x17, Buffer.from(text));
}
