import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { clientDisconnected, writeLog } from '../../lib/log.ts';
import { requestIdHeader } from '../api-gateway/request-id.ts';

interface LoggedError {
  readonly name?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly cause?: LoggedError;
}

interface LogEntry {
  readonly level: string;
  readonly message: string;
  readonly route?: string;
  readonly status?: number;
  readonly reason?: string;
  readonly error?: LoggedError;
}

/** Why a token was refused, by jose's codes. */
const reasons: Readonly<Record<string, string>> = {
  ERR_JWS_INVALID: 'it is malformed, or has a prefix such as "Bearer"',
  ERR_JWT_EXPIRED: 'it has expired',
  ERR_JWT_CLAIM_VALIDATION_FAILED: 'it is not valid yet',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'another secret signed it',
  ERR_JOSE_ALG_NOT_ALLOWED: 'no HMAC method signed it',
};

/** A line of a stack trace that is in Node itself. Each syntax error has ten, and none of them helps. */
const nodeFrame = /\n +at [^\n]*\bnode:[^\n]*/g;

export type ConsoleLog = ReturnType<typeof createConsoleLog>;

/**
 * Makes the log for people: a line for each request, and the functions' lines of JSON as text. Stack traces name files
 * relative to the service's directory. The process ends when nobody reads its output, as in `npm start | head`.
 */
export function createConsoleLog(directory: string) {
  const write = process.stdout.write.bind(process.stdout);
  const root = pathToFileURL(join(directory, '/')).href;
  const writeText = (text: string) => {
    const time = new Date().toTimeString().slice(0, 8);
    write(`${time} ${text.replaceAll(root, '')}\n`);
  };
  process.stdout.write = ((chunk: string | Uint8Array, ...rest: []) => {
    if (typeof chunk !== 'string' || !chunk.startsWith('{"timestamp":')) return write(chunk, ...rest);
    const text = formatEntry(JSON.parse(chunk));
    if (text !== undefined) writeText(text);
    return true;
  }) as typeof process.stdout.write;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
  return {
    logRequest({ method, url = '' }: IncomingMessage, response: ServerResponse, durationMs: number) {
      const { statusCode, headersSent, writableFinished } = response;
      const cut = headersSent ? `${statusCode} not sent whole` : 'the client disconnected';
      const outcome = writableFinished ? statusCode : cut;
      const id = response.getHeader(requestIdHeader);
      writeText(`${method} ${url.split('?', 1)[0]} ${outcome} ${durationMs.toFixed(1)} ms ${id}`);
    },
    logNotice: (text: string) => writeLog('INFO', text),
    logWarning: (text: string) => writeLog('WARN', text),
    logError: (message: string, error: unknown) => writeLog('ERROR', message, { error }),
  };
}

/** @returns the text, or `undefined` when the gateway's own line says enough: of a success, or a client that left */
function formatEntry({ level, message, route, status, reason, error }: LogEntry): string | undefined {
  if (status === 401 && reason) return `${status} ${route}: the token was refused (${reasons[reason] ?? reason})`;
  if (reason) return `${status} ${route}: refused (${reason})`;
  if (error === undefined || error.message === clientDisconnected) {
    if (message === 'request') return undefined;
    return level === 'INFO' ? message : `${level} ${message}`;
  }
  return `${level} ${message === 'request' ? route : message}: ${formatError(error)}`;
}

function formatError({ name, message, cause, stack = `${name}: ${message}` }: LoggedError): string {
  const own = stack.replaceAll(nodeFrame, '');
  return cause === undefined ? own : `${own}\n  caused by ${formatError(cause).replaceAll('\n', '\n  ')}`;
}
