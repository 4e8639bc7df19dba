/** One module of the package negotiator, which has no types of its own; its main module would bring three more along. */
declare module 'negotiator/lib/encoding.js' {
  /**
   * @param accept - the value of `Accept-Encoding`
   * @param available - the codings on offer
   * @param preferred - order among codings that the client likes equally
   * @returns the codings that are both on offer and acceptable, best first
   */
  export default function preferredEncodings(
    accept: string | undefined,
    available: readonly string[],
    preferred: readonly string[],
  ): string[];
}
