const progressIntervalMs = 5_000;

/** Control characters other than the line feed. A terminal would obey them. */
const controlCharacter = /(?!\n)\p{Cc}/gu;

/** Prints a line to standard error. */
export function report(text: string): void {
  console.error(showControlCharacters(text));
}

/** Writes control characters as escapes. Texts of files and of the service may hold some. */
export function showControlCharacters(text: string): string {
  const toEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replaceAll(controlCharacter, toEscape);
}

/** @returns a function that calls `describe` and prints its line now and then */
export function startProgress(describe: () => string): () => void {
  let printedAt = performance.now();
  return () => {
    if (performance.now() - printedAt < progressIntervalMs) return;
    printedAt = performance.now();
    report(describe());
  };
}

/** @returns a whole number with separators and, when given, a noun in its number, as in "10,000 books" */
export function formatCount(value: number, noun?: string): string {
  return value.toLocaleString('en') + (noun ? ` ${noun}${value === 1 ? '' : 's'}` : '');
}
