import type { Progress } from '@x/client'
import { type CliIo, widthOf } from '../cli-io.ts'
import { toDisplayLine } from '../terminal/display-text.ts'

/** Shows a call's progress in one line of a terminal. */
export interface ProgressLine {
  show(progress: Progress): void
  /** Removes the line, before other text is written. */
  clear(): void
}

const barWidth = 20

/** On the standard error. Without a terminal, nothing is written. */
export function createProgressLine(io: Pick<CliIo, 'output' | 'errorOutput'>): ProgressLine {
  const width = widthOf(io)
  let isShown = false
  return {
    show: (progress) => {
      if (width === undefined) return
      const text = toDisplayLine(formatProgress(progress))
      io.errorOutput.write(`\r\u001B[K${text.slice(0, width - 1)}`)
      isShown = true
    },
    clear: () => {
      if (isShown) io.errorOutput.write('\r\u001B[K')
      isShown = false
    },
  }
}

/** A bar for a report with a total, otherwise the number. */
export function formatProgress({ progress, total, message = '' }: Progress): string {
  if (total === undefined || total <= 0) return `${progress} ${message}`.trimEnd()
  const share = Math.min(1, Math.max(0, progress / total))
  const filled = Math.round(share * barWidth)
  return `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] ${Math.round(share * 100)}% ${message}`.trimEnd()
}
