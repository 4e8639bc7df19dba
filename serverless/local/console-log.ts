import type { IncomingMessage, ServerResponse } from 'node:http';

/** An error as lib/log/write-log.ts writes it. */
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

/** The log of the local service. */
export interface ConsoleLog {
  /** Logs a request whose response is sent. */
  logRequest(request: IncomingMessage, response: ServerResponse, durationMs: number): void;
  /** Logs what the service tells by itself. */
  logNotice(text: string): void;
  /** Logs an error that no function has logged. */
  logError(message: string, error: unknown): void;
}

/** What V8 and the loader of the functions (functions.ts) put around the name of a file. */
const fileDecoration = /\?generation=\d+/g;

/**
 * Makes the log for people: a line for each request, and the lines of JSON that the functions write as readable text. With
 * `json`, these lines stay as they are in Lambda, and requests have no others.
 *
 * @param format - `json`, or anything else for people
 * @param directory - the folder of the service; stack traces name files in it by their relative path
 */
export function createConsoleLog(format: string | undefined, directory: string): ConsoleLog {
  const write = process.stdout.write.bind(process.stdout);
  const writeText = (text: string) => {
    write(
      `${new Date().toTimeString().slice(0, 8)} ${text.replaceAll(fileDecoration, '').replaceAll(`file://${directory}/`, '')}\n`,
    );
  };
  const json = format === 'json';
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
    logRequest({ method, url = '' }, response, durationMs) {
      if (json) return;
      const [path] = url.split('?');
      const outcome = response.writableFinished
        ? response.statusCode
        : `${response.statusCode} not sent whole`;
      writeText(`${method} ${path} ${outcome} ${durationMs.toFixed(1)} ms`);
    },
    logNotice: writeText,
    logError(message, error) {
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

/** @returns the text, or `undefined` for a request without an error, which the gateway logs with its path */
function formatEntry({ level, message, route, error }: LogEntry): string | undefined {
  if (message === 'request' && error === undefined) return undefined;
  const what = message === 'request' ? route : message;
  return `${level} ${what}${error === undefined ? '' : `: ${formatError(error)}`}`;
}

function formatError(error: LoggedError): string {
  const { stack = `${error.name}: ${error.message}`, cause } = error;
  return cause === undefined ? stack : `${stack}\n  caused by ${formatError(cause).replaceAll('\n', '\n  ')}`;
}
