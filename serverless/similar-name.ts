/** @returns the known name that differs least from a name, by two letters of five or one of three; without case, `-`, `_` */
export function findSimilarName(name: string, known: readonly string[]): string | undefined {
  const simplify = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, '');
  const distances = known.map((other) => ({ other, distance: measure(simplify(name), simplify(other)) }));
  const similar = distances.filter(({ other, distance }) => distance <= 2 && distance * 2 < other.length);
  return similar.sort((a, b) => a.distance - b.distance)[0]?.other;
}

/** Levenshtein's distance. */
function measure(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const letter of from) {
    let left = (row[0] ?? 0) + 1;
    row = row.map((above, index) => {
      const replaced = (row[index - 1] ?? 0) + (to[index - 1] === letter ? 0 : 1);
      if (index > 0) left = Math.min(left + 1, above + 1, replaced);
      return left;
    });
  }
  return row.at(-1) ?? 0;
}
