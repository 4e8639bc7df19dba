import type { IncomingMessage } from 'node:http';

const thisMachine = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

/** @returns whether a server that listens on this address cannot be reached from other machines */
export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/**
 * Tells whether a request names this machine or the given host, and no other. Otherwise a web page whose name resolves
 * to 127.0.0.1 (DNS rebinding) could use the default credentials, which everybody knows.
 *
 * @param given - the host that the service was started with
 */
export function namesAllowedHost({ headersDistinct, url = '' }: IncomingMessage, given: string): boolean {
  const { host: hosts = [] } = headersDistinct;
  // A target may be a whole URL (RFC 9112 section 3.2.2).
  const target = url.startsWith('/') ? null : URL.parse(url);
  const names = [...hosts, ...(target?.host ? [target.host] : [])].map((name) => name.replace(/:\d*$/, ''));
  const isAllowed = (name: string) => thisMachine.test(name) || name.toLowerCase() === given.toLowerCase();
  return hosts.length === 1 && names.every(isAllowed);
}
