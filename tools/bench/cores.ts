/**
 * What is measured has a core to itself; the bench, the Runtime API and the databases share the other. Both are
 * prefixes of a command line.
 */
export const functionCore: readonly string[] = ['taskset', '-c', '1'];
export const benchCore: readonly string[] = ['taskset', '-c', '0'];
