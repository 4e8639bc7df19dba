import leven from 'leven';

/** @returns the known name that differs least from a name, by two letters of five or one of three; without case, `-`, `_` */
export function findSimilarName(name: string, known: readonly string[]): string | undefined {
  const simplify = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, '');
  const distances = known.map((other) => ({ other, distance: leven(simplify(name), simplify(other)) }));
  const similar = distances.filter(({ other, distance }) => distance <= 2 && distance * 2 < other.length);
  return similar.sort((a, b) => a.distance - b.distance)[0]?.other;
}
