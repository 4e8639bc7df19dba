import * as http from 'node:http';
import * as https from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

const options = { keepAlive: true, maxSockets: 50 }; // the SDK's number

/** The TCP connection below each TLS connection. */
const tcpConnections = new WeakMap<Duplex, Socket>();

/** Makes the TCP connection of each TLS connection itself, as a TLS socket cannot be reset. */
class ResettableTlsAgent extends https.Agent {
  override createConnection(
    target: https.AgentOptions & { host: string; port: number },
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    // IPv4 alone: for a second address, Node makes a new handle, and crashes when TLS uses the first.
    const socket = connect({ ...target, family: 4 });
    const connection = super.createConnection({ ...target, socket } as typeof target, callback);
    if (connection) tcpConnections.set(connection, socket);
    return connection;
  }
}

/** Makes the agents of one client, by protocol. */
export function createAgents(): Readonly<Record<string, http.Agent>> {
  return { 'http:': new http.Agent(options), 'https:': new ResettableTlsAgent(options) };
}

/**
 * Ends a connection with a TCP reset (RFC 9293 section 3.5.2), so that the kernel discards what it has not sent. After
 * `destroy()` it would continue to send: a request that was given up could still reach DynamoDB, even after its retry.
 */
export function resetConnection(connection: Socket): void {
  const tcpConnection = tcpConnections.get(connection) ?? connection;
  // Before it is connected there is nothing to discard, and a reset would wait for the connection.
  if (!tcpConnection.connecting) tcpConnection.resetAndDestroy();
  connection.destroy();
}
