import pc from 'picocolors'
import type { Line } from './step.ts'

/** The result of one step. */
export interface StepReport {
  readonly number: number
  readonly title: string
  readonly ask: string
  readonly lines: readonly Line[]
  /** The description of the unexpected result. Absent for a successful step. */
  readonly problem?: string | undefined
  /** The numbers of the instances that answered, in order. */
  readonly instances: readonly number[]
  readonly ms: number
}

const maxWidth = 100
const minWidth = 40
const indent = 4
const maxLines = 9
const colours: ReadonlyMap<string, (text: string) => string> = new Map([
  ['→', pc.cyan],
  ['☠', pc.yellow],
])

/** Formats a step in lines of the terminal's width, of at most 100 columns. Without a terminal they have 100. */
export function formatStep(report: StepReport, columns: number = process.stdout.columns): string {
  // A program without a terminal has no columns.
  const width = Math.max(minWidth, Math.min(maxWidth, columns || maxWidth))
  const mark = report.problem === undefined ? pc.green('✔') : pc.red('✘')
  return [
    ...heading(report, mark, width),
    ...block(report.ask, '→ ', width).map((line) => pc.cyan(line)),
    ...shorten(report.lines).flatMap((line, index) => formatLine(line, index, width)),
    ...(report.problem === undefined ? [] : block(report.problem, '✘ ', width).map((line) => pc.red(line))),
    '',
  ].join('\n')
}

/** Formats the last line of the walk-through. */
export function formatSummary(steps: number, failed: number): string {
  if (failed === 0) return pc.green(`All ${steps} steps went as expected.`)
  return pc.red(`${failed} of ${steps} steps did not go as expected.`)
}

function heading({ number, title, instances, ms }: StepReport, mark: string, width: number): string[] {
  const left = `${String(number).padStart(2)}  ${title}`
  const right = `${answeredBy(instances)} · ${ms.toFixed(0)} ms`
  const gap = width - 2 - left.length - right.length
  if (gap >= 2) return [`${mark} ${pc.bold(left)}${' '.repeat(gap)}${pc.dim(right)}`]
  const [first = '', ...rest] = wrap(left, width - 2 - indent)
  return [`${mark} ${pc.bold(first)}`, ...rest.map((line) => pc.bold(`      ${line}`)), pc.dim(right.padStart(width))]
}

function answeredBy(instances: readonly number[]): string {
  if (instances.length === 0) return 'no answer'
  return `instance ${instances.join(', ')}`
}

/** Formats a line. The first line without its own mark gets `←`; the mark of a line determines its colour. */
function formatLine(line: Line, index: number, width: number): string[] {
  if (typeof line === 'string') return block(line, index === 0 ? '← ' : '  ', width)
  const colour = colours.get(line.mark) ?? ((text: string) => text)
  return block(line.text, `${line.mark} `, width).map((text) => colour(text))
}

function shorten(lines: readonly Line[]): readonly Line[] {
  return lines.length <= maxLines
    ? lines
    : [...lines.slice(0, maxLines - 1), `… ${lines.length - maxLines + 1} more lines`]
}

/** Wraps a text after a mark. Further lines are indented to its first word. */
function block(text: string, mark: string, width: number): string[] {
  const room = width - indent - mark.length
  return wrap(text, room).map(
    (line, index) => `${' '.repeat(indent)}${index === 0 ? mark : ' '.repeat(mark.length)}${line}`,
  )
}

/** Breaks a text between its words. Only a word that is longer than a line is cut. */
function wrap(text: string, room: number): string[] {
  const lines: string[] = []
  let rest = text
  while (rest.length > room) {
    const space = rest.lastIndexOf(' ', room)
    const cut = space > 0 ? space : room
    lines.push(rest.slice(0, cut))
    rest = rest.slice(cut).trimStart()
  }
  return [...lines, rest]
}
