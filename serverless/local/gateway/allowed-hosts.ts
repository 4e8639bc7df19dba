import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';

/** The addresses of this machine alone. BlockList also recognizes them in the form `::ffff:127.0.0.1`. */
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** @returns whether a server that listens on this address cannot be reached from other machines */
export function isLoopback(address: string): boolean {
  return loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
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
