// Imported by name, `styleText` would end Node 18 before `@x/core` can say which Node is needed.
import util from 'node:util'
import { type CliIo, hasColors, widthOf } from '../cli-io.ts'
import { toDisplayJson, toDisplayLine } from '../terminal/display-text.ts'

/** Shows the result of a command, as text or as JSON. */
export class Printer {
  /** The user wants JSON. Nothing else then goes to the standard output. */
  readonly isJson: boolean
  /** Undefined if no line needs to be shortened. */
  readonly width: number | undefined
  readonly #io: CliIo
  readonly #isColored: boolean

  constructor(io: CliIo, isJson: boolean) {
    this.isJson = isJson
    this.width = widthOf(io)
    this.#io = io
    this.#isColored = hasColors(io)
  }

  /** A line of text on the standard output. */
  line(text = ''): void {
    this.#io.output.write(`${text}\n`)
  }

  /** A value as one line of JSON on the standard output. */
  json(value: object): void {
    this.line(toDisplayJson(value, this.#io.output))
  }

  /** A result: a value for a program, or a text for a person. */
  result(value: object, text: string): void {
    if (this.isJson) this.json(value)
    else this.line(text)
  }

  /** A line on the standard error, for a person who waits or must act. */
  note(text: string): void {
    this.#io.errorOutput.write(`${text}\n`)
  }

  /** Plain text where there are no colours. */
  color(color: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string): string {
    return this.#isColored ? util.styleText(color, text, { validateStream: false }) : text
  }
}

/** Title of a column, and its text in each row. */
export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => string
}

/** Texts of peers lose their control characters. The last column is shortened to the width of the terminal. */
export function printTable<Row>(printer: Printer, columns: readonly Column<Row>[], rows: readonly Row[]): void {
  const cells = rows.map((row) => columns.map(({ text }) => toDisplayLine(text(row))))
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((cellsOfRow) => cellsOfRow[index]?.length ?? 0)),
  )
  const formatRow = (texts: readonly string[]): string => {
    const padded = texts.map((text, index) => text.padEnd(widths[index] ?? 0))
    return cutToWidth(padded.join('  ').trimEnd(), printer.width)
  }
  printer.line(printer.color('dim', formatRow(columns.map(({ title }) => title))))
  for (const row of cells) printer.line(formatRow(row))
}

function cutToWidth(line: string, width: number | undefined): string {
  return width === undefined || line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`
}

/** In narrower columns, breaking a text between its words does not help to read it. */
const minWrapWidth = 20

/** Breaks a text between its words. A longer word has a line of its own. */
export function wrapWords(text: string, width: number | undefined): readonly string[] {
  if (width === undefined || width < minWrapWidth) return [text]
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}
