/** Severity names of Lambda's JSON log format ("Working with Lambda function logs", log-level filtering). */
type LogLevel = 'INFO' | 'WARN' | 'ERROR';

/**
 * Writes one line of JSON to standard output: `timestamp` (ISO 8601), `level`, `message`, then the fields.
 *
 * The line goes round `console`, which Lambda patches to wrap every message in a second JSON object.
 * Callers pass only what may be read by anyone who reads logs: never a token, a password, a secret or a body.
 *
 * @param level - severity
 * @param message - fixed text that says what happened
 * @param fields - further members of the line; a value that is an Error is written as its name, message, stack
 *   and cause
 */
export function writeLog(
  level: LogLevel,
  message: string,
  fields: Readonly<Record<string, unknown>> = {},
): void {
  const entry = { timestamp: new Date().toISOString(), level, message, ...fields };
  process.stdout.write(
    `${JSON.stringify(entry, (_key, value) => (value instanceof Error ? describeError(value) : value))}\n`,
  );
}

function describeError({ name, message, stack, cause }: Error) {
  return { name, message, stack, cause };
}
