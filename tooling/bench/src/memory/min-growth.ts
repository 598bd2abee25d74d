/**
 * The least of the steps between looks at a heap, in bytes. Code that is compiled late, or a table that doubled, makes
 * one step large; what each piece of work leaves behind makes every one of them large.
 *
 * @throws RangeError when there are fewer than two looks.
 */
export function minGrowth(heaps: readonly number[]): number {
  if (heaps.length < 2) throw new RangeError(`growth is between two looks at a heap, and there are ${heaps.length}`)
  return Math.min(...heaps.slice(1).map((heap, index) => heap - (heaps[index] ?? 0)))
}
