import { isClientError } from '@x/client'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import { toDisplayLine } from '../terminal/display-text.ts'

/** The standard error of a server that a command has started: it has the reason of most failures. */
export interface ServerOutput {
  onLine(line: string): void
  /** Shows the last lines, unless all were written as they came. */
  show(): void
  /** Removes the output from the message of a process that has ended, where all of it is shown. */
  shorten(error: unknown): unknown
}

const maxShownLines = 20

/** With `isVerbose`, each line is written as it comes. */
export function createServerOutput({ errorOutput }: Pick<CliIo, 'errorOutput'>, isVerbose: boolean): ServerOutput {
  const lines: string[] = []
  let lineCount = 0
  const write = (line: string): void => void errorOutput.write(`  ${toDisplayLine(line)}\n`)
  return {
    onLine: (line) => {
      lineCount += 1
      if (isVerbose) return write(line)
      lines.push(line)
      if (lines.length > maxShownLines) lines.shift()
    },
    show: () => {
      if (lines.length === 0) return
      const which =
        lineCount > lines.length ? `the last ${lines.length} of ${lineCount} lines; --verbose shows all` : ''
      errorOutput.write(`The server wrote to its standard error${which === '' ? '' : ` (${which})`}:\n`)
      for (const line of lines.splice(0)) write(line)
    },
    shorten: (error) => {
      if (!isClientError(error) || lineCount === 0 || lineCount > maxShownLines) return error
      const [message = '', output] = error.message.split(/; its (?:first|last) output: /)
      return output === undefined ? error : new CliError('failure', message, { cause: error })
    },
  }
}
