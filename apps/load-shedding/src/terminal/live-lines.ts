import pc from 'picocolors'
import { formatMs } from '../board/format-ms.ts'
import type { Snapshot, Timing, Totals } from '../board/snapshot.ts'

/** A view of the run in the terminal. */
export interface LiveView {
  /** Writes a line. */
  print(text: string): void
  /** Writes a line about the result of `getView` every two seconds. */
  watch(getView: () => TerminalView): void
  /** Ends the updates. */
  stop(): void
}

type TerminalView = Pick<Snapshot, 'lanes' | 'totals' | 'recent'>

const intervalMs = 2_000

/** Creates a view that writes a line every two seconds. */
export function liveLines(output: NodeJS.WritableStream): LiveView {
  let getView: (() => TerminalView) | undefined
  const timer = setInterval(() => {
    if (getView !== undefined) output.write(`${formatLine(getView())}\n`)
  }, intervalMs)
  // A program that cannot start ends with its error, and does not wait for the next line.
  timer.unref()
  return {
    print: (text) => void output.write(`${text}\n`),
    watch(nextView) {
      getView = nextView
    },
    stop: () => clearInterval(timer),
  }
}

function formatLine({ lanes, totals, recent }: TerminalView): string {
  const states = lanes.map(({ instance, status, isOverloaded }) => {
    return `${instance}:${status === 'ready' && isOverloaded ? 'overloaded' : status}`
  })
  return `${states.join(' ')}  ${formatTotals(totals)}  ${formatTiming(recent)}`
}

function formatTotals({ completed, lost, wrong, moved, repeated }: Totals): string {
  const formatProblem = (count: number, label: string): string =>
    count === 0 ? `${count} ${label}` : pc.red(`${count} ${label}`)
  const parts = [
    `${completed} completed`,
    formatProblem(lost, 'lost'),
    `${moved} ${moved === 1 ? 'hand-off' : 'hand-offs'}`,
    formatProblem(repeated, 'chunks repeated'),
  ]
  return wrong === 0 ? parts.join(', ') : [...parts, formatProblem(wrong, 'wrong')].join(', ')
}

function formatTiming({ perSecond, p50Ms, p99Ms }: Timing): string {
  return `last 10 s: ${perSecond.toFixed(1)} calls/s, p50 ${formatMs(p50Ms)}, p99 ${formatMs(p99Ms)}`
}
