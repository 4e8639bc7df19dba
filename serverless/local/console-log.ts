import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Credentials } from '../../lib/auth/credentials.ts';

/** An error as the functions log it. */
interface LoggedError {
  readonly name?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly cause?: LoggedError;
}

/** A line of the functions' log. */
interface LogEntry {
  readonly level: string;
  readonly message: string;
  readonly route?: string;
  readonly error?: LoggedError;
}

/** What {@link FunctionLoader} adds to the URLs of modules. */
const generation = /\?generation=\d+/g;

/**
 * Makes the log for people: a line for each request, and the functions' JSON lines as readable text. With `json`, those
 * lines stay as they are in Lambda, and there are no others for requests.
 *
 * @param directory - the folder of the service; stack traces name files relative to it
 */
export function createConsoleLog(format: string | undefined, directory: string) {
  const json = format === 'json';
  const write = process.stdout.write.bind(process.stdout);
  const writeText = (text: string) => {
    const time = new Date().toTimeString().slice(0, 8);
    write(`${time} ${text.replaceAll(generation, '').replaceAll(`file://${directory}/`, '')}\n`);
  };
  if (!json) {
    process.stdout.write = ((chunk: string | Uint8Array, ...rest: []) => {
      const entry = parseEntry(chunk);
      if (entry === undefined) return write(chunk, ...rest);
      const text = formatEntry(entry);
      if (text !== undefined) writeText(text);
      return true;
    }) as typeof process.stdout.write;
  }
  return {
    /** Logs a request, after its response. */
    logRequest(request: IncomingMessage, response: ServerResponse, durationMs: number) {
      const { method, url = '' } = request;
      const { statusCode, writableFinished } = response;
      if (json) return;
      const outcome = writableFinished ? statusCode : `${statusCode} not sent whole`;
      writeText(`${method} ${url.split('?', 1)[0]} ${outcome} ${durationMs.toFixed(1)} ms`);
    },
    logNotice: writeText,
    logError(message: string, error: unknown) {
      writeText(`${message}: ${formatError(error as LoggedError)}`);
    },
  };
}

function parseEntry(chunk: string | Uint8Array): LogEntry | undefined {
  if (typeof chunk !== 'string' || !chunk.startsWith('{"timestamp":')) return undefined;
  try {
    return JSON.parse(chunk);
  } catch {
    return undefined;
  }
}

/** @returns the text; `undefined` for a request without an error, which the gateway logs with its path */
function formatEntry({ level, message, route, error }: LogEntry): string | undefined {
  if (error === undefined) return message === 'request' ? undefined : `${level} ${message}`;
  return `${level} ${message === 'request' ? route : message}: ${formatError(error)}`;
}

function formatError({ name, message, cause, stack = `${name}: ${message}` }: LoggedError): string {
  return cause === undefined ? stack : `${stack}\n  caused by ${formatError(cause).replaceAll('\n', '\n  ')}`;
}

/**
 * Tells who started the service how to use it, with two command lines to paste one after the other.
 *
 * @param storage - where the books are
 */
export function formatReadyMessage(baseUrl: string, storage: string, credentials: Credentials): string {
  const login = quoteForShell(JSON.stringify(credentials));
  return `
Book Catalog is ready at ${baseUrl}
Reference: ${baseUrl}/docs
Books: ${storage}
Username: ${credentials.username}  Password: ${credentials.password}

Try it in another terminal:

  TOKEN=$(curl -s ${baseUrl}/token -d ${login} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
  curl -s ${baseUrl}/books -H "Authorization: $TOKEN"

Stop it with Ctrl-C.

`;
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
