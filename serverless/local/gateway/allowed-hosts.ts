import type { IncomingMessage } from 'node:http';

/** @returns whether a server that listens on this address cannot be reached from other machines */
export function isLoopback(address: string): boolean {
  return /^(127(\.\d+){3}|::1)$/.test(address);
}

/**
 * Tells whether a request names this machine or the given host, and no other. Otherwise a web page whose name resolves
 * to 127.0.0.1 (DNS rebinding) could use the default credentials, which everybody knows.
 *
 * @param given - the host that the service was started with
 */
export function namesAllowedHost({ headersDistinct: { host: hosts = [] } }: IncomingMessage, given: string): boolean {
  const [host = ''] = hosts;
  const name = host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  return hosts.length === 1 && (name === 'localhost' || name === given.toLowerCase() || isLoopback(name));
}
