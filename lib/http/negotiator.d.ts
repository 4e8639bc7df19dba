/** One module of the package negotiator; @types/negotiator lacks `preferred`, and the main module bundles three more. */
declare module 'negotiator/lib/encoding.js' {
  type Codings = readonly string[];
  /** @returns the codings that are on offer and acceptable, best first; `preferred` orders those of equal quality */
  export default function negotiate(accept: string | undefined, offered: Codings, preferred: Codings): string[];
}
