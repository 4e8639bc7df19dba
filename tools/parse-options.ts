import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** Reads the options of a command, and positional arguments if it has any. Prints the usage for `--help`. */
export function parseOptions<Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  allowPositionals = false,
) {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs({ args, options, allowPositionals });
  } catch (error) {
    return endWithAdvice((error as Error).message);
  }
}

/** Says what is wrong with the arguments of a command, and ends it with exit code 2. */
export function endWithAdvice(message: string): never {
  console.error(`${message}\n--help shows all options.`);
  process.exit(2);
}
