import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HttpRequest } from '@smithy/core/protocols';
import { SignatureV4 } from '@smithy/signature-v4';
import { Sha256 } from '../../lib/dynamodb/connection/signing.ts';

/** An access key of AWS. */
export interface AccessKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Makes an access key that nobody can guess. */
export function createAccessKey(): AccessKey {
  return { accessKeyId: randomBytes(16).toString('hex'), secretAccessKey: randomBytes(32).toString('hex') };
}

const authorizationText =
  /^AWS4-HMAC-SHA256 Credential=\w+\/\d{8}\/([\w-]+)\/dynamodb\/aws4_request, SignedHeaders=([^,]+), /;
const dateText = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/**
 * Makes the function that signs a signed request again: with this access key, for this body, at the time and with the
 * headers of its own signature ("AWS Signature Version 4 for API requests").
 *
 * @returns the header `Authorization`, or `undefined` when the request has no signature
 */
export function createSigner(accessKey: AccessKey) {
  const signer = new SignatureV4({ credentials: accessKey, service: 'dynamodb', region: '', sha256: Sha256 });
  return async ({ method = '', url = '', headers }: IncomingMessage, body: Uint8Array) => {
    const [, signingRegion, names] = authorizationText.exec(headers.authorization ?? '') ?? [];
    const signingDate = new Date(String(headers['x-amz-date']).replace(dateText, '$1-$2-$3T$4:$5:$6Z'));
    if (signingRegion === undefined || names === undefined || Number.isNaN(signingDate.getTime())) return undefined;
    const signedHeaders = Object.fromEntries(names.split(';').map((name) => [name, String(headers[name])]));
    delete signedHeaders['x-amz-content-sha256']; // the signer computes it from the body
    const request = new HttpRequest({ method, path: url, headers: signedHeaders, body });
    const signed = await signer.sign(request, { signingDate, signingRegion });
    return signed.headers.authorization;
  };
}

/** Makes the checks of requests that have to be signed with one access key. */
export function createSignatureCheck(accessKey: AccessKey) {
  const sign = createSigner(accessKey);
  const start = `AWS4-HMAC-SHA256 Credential=${accessKey.accessKeyId}/`;
  return {
    /** Whether a request names the access key. This takes no body. */
    namesKey: ({ headers: { authorization = '' } }: IncomingMessage) =>
      isEqual(authorization.slice(0, start.length), start),

    /**
     * Whether the secret of the access key has signed a request. Its time does not matter: nobody sees the requests that
     * a process sends to itself.
     */
    async isSigned(request: IncomingMessage, body: Uint8Array): Promise<boolean> {
      return isEqual(request.headers.authorization ?? '', (await sign(request, body)) ?? 'no signature');
    },
  };
}

/** Compares two texts in constant time. */
function isEqual(one: string, other: string): boolean {
  const [digest, expected] = [one, other].map((text) => hash('sha256', text, 'buffer')) as [Buffer, Buffer];
  return timingSafeEqual(digest, expected);
}
