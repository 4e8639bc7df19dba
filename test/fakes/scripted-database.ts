import * as http from 'node:http';
import * as https from 'node:https';
import { setDefaultCACertificates } from 'node:tls';
import { onTestFinished } from 'vitest';
import { close, listen } from '../support/loopback-server.ts';
import { loopbackCertificate } from './loopback-certificate.ts';

/**
 * Starts a database that stores nothing, for responses that no engine would send. It stops after the test. Over HTTPS,
 * this process trusts its certificate from then on. Tests of what is stored have an engine (engine.ts), with a proxy in
 * between for faults (faulty-proxy.ts).
 */
export async function startScriptedDatabase(respond: http.RequestListener, protocol: 'http' | 'https' = 'http') {
  const isTls = protocol === 'https';
  const server = isTls ? https.createServer(loopbackCertificate, respond) : http.createServer(respond);
  if (isTls) setDefaultCACertificates([loopbackCertificate.cert]);
  onTestFinished(() => close(server));
  return { server, endpoint: `${protocol}://127.0.0.1:${await listen(server)}` };
}
