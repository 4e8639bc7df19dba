/** Ends the process as CONTRIBUTING.md, "Commands", says of commands that lack a tool. */
export function endForMissingTool(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(77);
}
