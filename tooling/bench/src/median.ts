/**
 * Returns the median of numbers.
 *
 * @throws RangeError for an empty list.
 */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle]
  if (upper === undefined) throw new RangeError('the median of an empty list is undefined: pass at least one number')
  const lower = sorted[middle - 1]
  return sorted.length % 2 === 1 || lower === undefined ? upper : (lower + upper) / 2
}
