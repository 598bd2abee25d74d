/** A line of a difference: its mark is a blank for a line of both texts. */
interface DiffLine {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
}

/** The lines around a change that are shown with it. */
const contextLines = 3
/** Larger changes are shown as one block, because the comparison takes memory for each pair of lines. */
const maxPairs = 4_000_000

/** Returns the difference of two texts in the unified format, without the names of files. */
export function diffLines(before: string, after: string): readonly string[] {
  const lines = compareLines(before.split('\n'), after.split('\n'))
  const shown = lines.map((_, index) =>
    lines.slice(Math.max(0, index - contextLines), index + contextLines + 1).some(({ mark }) => mark !== ' '),
  )
  const output: string[] = []
  let [oldLine, newLine] = [1, 1]
  for (const [index, { mark, text }] of lines.entries()) {
    if (shown[index] === true) {
      if (shown[index - 1] !== true) output.push(`@@ -${oldLine} +${newLine} @@`)
      output.push(`${mark}${text}`)
    }
    if (mark !== '+') oldLine += 1
    if (mark !== '-') newLine += 1
  }
  return output
}

function compareLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  const most = Math.min(before.length, after.length) - start
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1
  return [
    ...toLines(' ', before.slice(0, start)),
    ...compareMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...toLines(' ', before.slice(before.length - end)),
  ]
}

function toLines(mark: DiffLine['mark'], texts: readonly string[]): readonly DiffLine[] {
  return texts.map((text) => ({ mark, text }))
}

/** Compares by the longest common subsequence. */
function compareMiddle(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  if (before.length * after.length > maxPairs) return [...toLines('-', before), ...toLines('+', after)]
  const common = countCommon(before, after)
  const lines: DiffLine[] = []
  let [row, column] = [0, 0]
  while (row < before.length && column < after.length) {
    const [old = '', text = ''] = [before[row], after[column]]
    const mark = markOf(old === text, common(row + 1, column) >= common(row, column + 1))
    lines.push({ mark, text: mark === '-' ? old : text })
    if (mark !== '+') row += 1
    if (mark !== '-') column += 1
  }
  return [...lines, ...toLines('-', before.slice(row)), ...toLines('+', after.slice(column))]
}

function markOf(isCommon: boolean, isRemoved: boolean): DiffLine['mark'] {
  if (isCommon) return ' '
  return isRemoved ? '-' : '+'
}

/** Returns a function that gives the number of common lines from a line of each text on. */
function countCommon(before: readonly string[], after: readonly string[]): (row: number, column: number) => number {
  const width = after.length + 1
  const counts = new Uint32Array((before.length + 1) * width)
  const countAt = (row: number, column: number): number => counts[row * width + column] ?? 0
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1)
      counts[row * width + column] =
        before[row] === after[column]
          ? countAt(row + 1, column + 1) + 1
          : Math.max(countAt(row + 1, column), countAt(row, column + 1))
  return countAt
}
