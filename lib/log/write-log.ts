/** Severity names of Lambda's JSON log format ("Working with Lambda function logs", log-level filtering). */
type LogLevel = 'INFO' | 'WARN' | 'ERROR';

/** Causes of causes that are still told; an error may be its own cause. */
const maxCauses = 5;

/**
 * Writes one line of JSON to standard output: `timestamp` (ISO 8601), `level`, `message`, then the fields.
 *
 * The line goes round `console`, which Lambda patches to wrap every message in a second JSON object.
 * Callers pass only what may be read by anyone who reads logs: never a token, a password, a secret or a body.
 *
 * @param level - severity
 * @param message - fixed text that says what happened
 * @param fields - further members of the line, and `error`, which is written as its name, message, stack and causes
 */
export function writeLog(
  level: LogLevel,
  message: string,
  { error, ...fields }: Readonly<Record<string, unknown>> = {},
): void {
  const entry = { timestamp: new Date().toISOString(), level, message, ...fields, error: describe(error) };
  process.stdout.write(`${JSON.stringify(entry)}\n`);
}

/** Only the members that every error has: the SDK's carry whole requests and responses. */
function describe(error: unknown, causes = 0): unknown {
  if (error === undefined || causes > maxCauses) return undefined;
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack, cause } = error;
  return { name, message, stack, cause: describe(cause, causes + 1) };
}
