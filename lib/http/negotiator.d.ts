/** One module of the package negotiator; @types/negotiator lacks `preferred`, and the main module bundles three more. */
declare module 'negotiator/lib/encoding.js' {
  /** @returns the codings that are on offer and acceptable, best first; `preferred` orders those of equal quality */
  export default function preferredEncodings(
    accept: string | undefined,
    offered: readonly string[],
    preferred: readonly string[],
  ): string[];
}
