import { createPrivateKey } from 'node:crypto';

const jwk = {
  kty: 'EC',
  crv: 'P-256',
  d: '6O1ef-aeA3juvX54zs7ZD-hQq9rNGIj4OmJud93rw5c',
  x: '-0g3IqLvIHxIoYdUus18niHN0D1aHNpf9TfhGhWC9xw',
  y: '-C6CEJDxkQHdBV7WnK5NKbxrK7MXTkvMNg4cmCkFrX8',
};

const der = [
  'MIIBJzCCAM6gAwIBAgIBATAKBggqhkjOPQQDAjATMREwDwYDVQQDDAhsb29wYmFjazAeFw0yMDAxMDEwMDAwMDBaFw00OTEy',
  'MzEwMDAwMDBaMBMxETAPBgNVBAMMCGxvb3BiYWNrMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE+0g3IqLvIHxIoYdUus18',
  'niHN0D1aHNpf9TfhGhWC9xz4LoIQkPGRAd0FXtacrk0pvGsrsxdOS8w2DhyYKQWtf6MTMBEwDwYDVR0RBAgwBocEfwAAATAK',
  'BggqhkjOPQQDAgNHADBEAiBeg87+0fwTXaPEhzbb0hNO6I5/XmK9Qyi7HLx6G1NYxAIgfYpHv7KbfMGmbVU6bQjZZRYK0mvM',
  'n/PliWdb4QFZbdo=',
].join('');

/** A key and its self-signed certificate for 127.0.0.1, valid until 2049, in PEM. Only tests trust it. */
export const loopbackCertificate = {
  key: createPrivateKey({ key: jwk, format: 'jwk' }).export({ type: 'pkcs8', format: 'pem' }),
  cert: `-----BEGIN CERTIFICATE-----\n${der}\n-----END CERTIFICATE-----\n`,
};
