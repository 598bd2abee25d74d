/**
 * Returns the smallest growth between consecutive measurements of a heap, in bytes. Code that is compiled late, or a
 * hash table that doubles, makes one step large. A leak makes every step large.
 *
 * @throws RangeError for fewer than two measurements.
 */
export function minGrowth(heaps: readonly number[]): number {
  if (heaps.length < 2) throw new RangeError(`growth needs two measurements of a heap, and there are ${heaps.length}`)
  return Math.min(...heaps.slice(1).map((heap, index) => heap - (heaps[index] ?? 0)))
}
