/** Levels of Lambda's JSON log format, by which CloudWatch filters. */
type LogLevel = 'INFO' | 'WARN' | 'ERROR';

/** An error may be its own cause. */
const maxCauses = 5;

/**
 * Writes one line of JSON to standard output: `timestamp` (ISO 8601), `level`, `message`, then the fields. It avoids
 * `console`, which Lambda patches to wrap each message in a second JSON object.
 *
 * @param fields - never a token, a password, a secret or a body; `error` is written with its message, stack and causes
 */
export function writeLog(
  level: LogLevel,
  message: string,
  { error, ...fields }: Readonly<Record<string, unknown>> = {},
): void {
  const entry = { timestamp: new Date().toISOString(), level, message, ...fields, error: describe(error) };
  process.stdout.write(`${JSON.stringify(entry)}\n`);
}

/** Picks the members of every error: errors of the SDK carry whole requests and responses. */
function describe(error: unknown, causes = 0): unknown {
  if (error === undefined || causes > maxCauses) return undefined;
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack, cause } = error;
  return { name, message, stack, cause: describe(cause, causes + 1) };
}
