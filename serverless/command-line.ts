import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { findSimilarName } from './similar-name.ts';

/**
 * Reads the options of a command, and positional arguments if it has any. Prints the usage for `--help`, and says what is
 * wrong with exit code 2.
 */
export function readCommandLine<Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  allowPositionals = false,
) {
  // In CI `yes` is often set for npm, and a command without it asks.
  refuseOptionsTakenByNpm(Object.keys(options).filter((name) => name !== 'yes'));
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs({ args, options, allowPositionals });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const [, unknown] = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? (/'--?([^']+)'/.exec(message) ?? []) : [];
    if (unknown === undefined) return endWithAdvice(message);
    const similar = findSimilarName(unknown, Object.keys(options));
    const hint = similar === undefined ? '' : `; did you mean --${similar}?`;
    return endWithAdvice(`There is no option --${unknown}${hint}`);
  }
}

/** Ends the command when npm took an option for itself, which happens without `--` before the options. */
export function refuseOptionsTakenByNpm(names: readonly string[]): void {
  const { npm_lifecycle_event: script = '', ...environment } = process.env;
  const taken = names.find((name) => environment[`npm_config_${name.toLowerCase().replaceAll('-', '_')}`]);
  if (taken === undefined) return;
  const command = ['start', 'test'].includes(script) ? script : `run ${script}`;
  console.error(`npm took --${taken} for itself. Write -- before the options: npm ${command} -- --${taken} ...`);
  process.exit(2);
}

/** Says what is wrong with the arguments of a command, and ends it with exit code 2. */
export function endWithAdvice(message: string): never {
  console.error(`${message}\n--help shows all options.`);
  process.exit(2);
}
