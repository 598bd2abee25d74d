/** The maximum number of lines of each side in a message. */
const shownLines = 12

/**
 * Returns the lines in which two texts differ, between their common beginning and end.
 * @param {string} before
 * @param {string} after
 */
export function firstDifference(before, after) {
  const left = before.split('\n')
  const right = after.split('\n')
  const start = countSame(left, right)
  const end = countSame(left.slice(start).toReversed(), right.slice(start).toReversed())
  const removed = left.slice(start, left.length - end)
  const added = right.slice(start, right.length - end)
  return [`  line ${start + 1}:`, ...side('-', removed), ...side('+', added)].join('\n')
}

/**
 * @param {readonly string[]} left
 * @param {readonly string[]} right
 */
function countSame(left, right) {
  const found = left.findIndex((line, index) => line !== right[index])
  return found === -1 ? left.length : found
}

/**
 * @param {string} sign
 * @param {readonly string[]} lines
 */
function side(sign, lines) {
  const shown = lines.slice(0, shownLines).map((line) => `  ${sign} ${line}`)
  return lines.length > shownLines ? [...shown, `  ${sign} … ${lines.length - shownLines} more lines`] : shown
}
