import type { Progress } from '@x/client'
import { type CliIo, widthOf } from '../cli-io.ts'
import { toDisplayLine } from '../terminal/display-text.ts'

const barWidth = 20

/** Shows a call's progress in one line of a terminal, on the standard error. Without a terminal, nothing is written. */
export class ProgressLine {
  readonly #output: CliIo['errorOutput']
  readonly #width: number | undefined
  #isShown = false

  constructor(io: Pick<CliIo, 'output' | 'errorOutput'>) {
    this.#output = io.errorOutput
    this.#width = widthOf(io)
  }

  show(progress: Progress): void {
    if (this.#width === undefined) return
    const text = toDisplayLine(formatProgress(progress))
    this.#output.write(`\r\u001B[K${text.slice(0, this.#width - 1)}`)
    this.#isShown = true
  }

  /** Removes the line, before other text is written. */
  clear(): void {
    if (this.#isShown) this.#output.write('\r\u001B[K')
    this.#isShown = false
  }
}

/** A bar for a report with a total, otherwise the number. */
export function formatProgress({ progress, total, message = '' }: Progress): string {
  if (total === undefined || total <= 0) return `${progress} ${message}`.trimEnd()
  const share = Math.min(1, Math.max(0, progress / total))
  const filled = Math.round(share * barWidth)
  return `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] ${Math.round(share * 100)}% ${message}`.trimEnd()
}
