import { isClientError } from '@x/client'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import { toDisplayLine } from '../terminal/display-text.ts'

const maxShownLines = 20

/** The standard error of a server that a command has started: it has the reason of most failures. */
export class ServerOutput {
  readonly #output: CliIo['errorOutput']
  readonly #isVerbose: boolean
  readonly #lines: string[] = []
  #lineCount = 0

  /** With `isVerbose`, each line is written as it comes. */
  constructor({ errorOutput }: Pick<CliIo, 'errorOutput'>, isVerbose: boolean) {
    this.#output = errorOutput
    this.#isVerbose = isVerbose
  }

  add(line: string): void {
    this.#lineCount += 1
    if (this.#isVerbose) return this.#write(line)
    this.#lines.push(line)
    if (this.#lines.length > maxShownLines) this.#lines.shift()
  }

  /** Shows the last lines, unless all were written as they came. */
  show(): void {
    const { length } = this.#lines
    if (length === 0) return
    const which =
      this.#lineCount > length ? ` (the last ${length} of ${this.#lineCount} lines; --verbose shows all)` : ''
    this.#output.write(`The server wrote to its standard error${which}:\n`)
    for (const line of this.#lines.splice(0)) this.#write(line)
  }

  /** Removes the output from the message of a process that has ended, where all of it is shown. */
  shorten(error: unknown): unknown {
    if (!isClientError(error) || this.#lineCount === 0 || this.#lineCount > maxShownLines) return error
    const [message = '', output] = error.message.split(/; its (?:first|last) output: /)
    return output === undefined ? error : new CliError('failure', message, { cause: error })
  }

  #write(line: string): void {
    this.#output.write(`  ${toDisplayLine(line)}\n`)
  }
}
