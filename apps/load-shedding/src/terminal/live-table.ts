import { clearScreenDown, moveCursor } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { formatLine, formatTable, type TerminalView } from './format-snapshot.ts'

/** A view of the run, until it is stopped. */
export interface LiveView {
  /** Writes a line that stays. */
  print(text: string): void
  /** From now on shows this, again and again. */
  watch(getView: () => TerminalView): void
  stop(): void
}

const tableMs = 250
const linesMs = 2_000

/** A terminal, as far as a table needs it. */
export interface TableOutput extends NodeJS.WritableStream {
  readonly columns: number
}

/** A table that is drawn over itself. */
export function liveTable(output: TableOutput): LiveView {
  let getView: (() => TerminalView) | undefined
  let drawn = 0
  const erase = (): void => {
    if (drawn === 0) return
    moveCursor(output, 0, -drawn)
    clearScreenDown(output)
    drawn = 0
  }
  const draw = (): void => {
    if (getView === undefined) return
    const lines = formatTable(getView()).map((line) => truncate(line, output.columns))
    erase()
    output.write(`${lines.join('\n')}\n`)
    drawn = lines.length
  }
  const timer = setInterval(draw, tableMs)
  return {
    print(text) {
      erase()
      output.write(`${text}\n`)
      draw()
    },
    watch(nextView) {
      getView = nextView
      draw()
    },
    stop: () => clearInterval(timer),
  }
}

/** A line now and then, for output that goes into a file. */
export function liveLines(output: NodeJS.WritableStream): LiveView {
  let getView: (() => TerminalView) | undefined
  const timer = setInterval(() => {
    if (getView !== undefined) output.write(`${formatLine(getView())}\n`)
  }, linesMs)
  return {
    print: (text) => void output.write(`${text}\n`),
    watch(nextView) {
      getView = nextView
    },
    stop: () => clearInterval(timer),
  }
}

/** A line that is wider than the terminal would be two, and what is drawn over it too little. */
function truncate(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line)
  return plain.length < columns ? line : plain.slice(0, Math.max(0, columns - 1))
}
