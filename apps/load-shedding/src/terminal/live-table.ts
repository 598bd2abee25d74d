import { clearScreenDown, moveCursor } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { formatLine, formatTable, type TerminalView } from './format-snapshot.ts'

/** A view of the run in the terminal. */
export interface LiveView {
  /** Writes a permanent line. */
  print(text: string): void
  /** Shows the result of `getView`, and updates it periodically. */
  watch(getView: () => TerminalView): void
  /** Ends the updates. */
  stop(): void
}

const tableIntervalMs = 250
const lineIntervalMs = 2_000

/** The members of a terminal stream that a table needs. */
export interface TableOutput extends NodeJS.WritableStream {
  readonly columns: number
}

/** Creates a view that redraws a table in place. */
export function liveTable(output: TableOutput): LiveView {
  let getView: (() => TerminalView) | undefined
  let drawnLines = 0
  const erase = (): void => {
    if (drawnLines === 0) return
    moveCursor(output, 0, -drawnLines)
    clearScreenDown(output)
    drawnLines = 0
  }
  const draw = (): void => {
    if (getView === undefined) return
    const lines = formatTable(getView()).map((line) => truncate(line, output.columns))
    erase()
    output.write(`${lines.join('\n')}\n`)
    drawnLines = lines.length
  }
  const timer = setInterval(draw, tableIntervalMs)
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

/** Creates a view that writes a line every two seconds, for output to a file or a pipe. */
export function liveLines(output: NodeJS.WritableStream): LiveView {
  let getView: (() => TerminalView) | undefined
  const timer = setInterval(() => {
    if (getView !== undefined) output.write(`${formatLine(getView())}\n`)
  }, lineIntervalMs)
  return {
    print: (text) => void output.write(`${text}\n`),
    watch(nextView) {
      getView = nextView
    },
    stop: () => clearInterval(timer),
  }
}

/** Shortens a line to the width of the terminal. A wrapped line would break the redrawing. */
function truncate(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line)
  return plain.length < columns ? line : plain.slice(0, Math.max(0, columns - 1))
}
