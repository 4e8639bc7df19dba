import { lookup } from 'node:dns';
import * as http from 'node:http';
import * as https from 'node:https';
import { connect, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** More requests than this wait for a connection; the SDK has the same number. */
const maxSockets = 50;

const options = { keepAlive: true, maxSockets };

/** The TCP connection below each TLS connection. */
const tcpConnections = new WeakMap<Duplex, Socket>();

/** IPv4 first, which is everywhere. */
const lookupIpv4First: LookupFunction = (hostname, options, callback) =>
  lookup(hostname, { ...options, order: 'ipv4first' }, callback);

/** Makes the TCP connection of each TLS connection itself, as a TLS socket cannot be reset. */
class ResettableTlsAgent extends https.Agent {
  override createConnection(
    target: https.AgentOptions & { host: string; port: number },
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    // One address: the second one of a name gets a new handle, and Node crashes with TLS upon the first.
    const tcpConnection = connect({ ...target, autoSelectFamily: false, lookup: lookupIpv4First });
    const connection = super.createConnection(
      { ...target, socket: tcpConnection } as typeof target,
      callback,
    );
    if (connection) tcpConnections.set(connection, tcpConnection);
    return connection;
  }
}

/** Makes the agents of one client: they keep connections open between requests. */
export function createAgents(): Readonly<Record<string, http.Agent>> {
  return { 'http:': new http.Agent(options), 'https:': new ResettableTlsAgent(options) };
}

/**
 * Ends a connection with a TCP reset (RFC 9293 section 3.5.2), so that the kernel discards what it has not sent. After
 * `destroy()` it would go on sending: a request that was given up would still reach DynamoDB, perhaps after its retry.
 *
 * @param connection - a connection of an agent of {@link createAgents}
 */
export function resetConnection(connection: Socket): void {
  const tcpConnection = tcpConnections.get(connection) ?? connection;
  // Before it is connected there is nothing to discard, and a reset would wait for the connection.
  if (!tcpConnection.connecting) tcpConnection.resetAndDestroy();
  connection.destroy();
}
