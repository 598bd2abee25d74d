import pc from 'picocolors'
import { formatMs } from '../board/format-ms.ts'
import type { CallView, LaneView, Snapshot, Timing, Totals } from '../board/snapshot.ts'

/** Formats a snapshot for the terminal. */
export type TerminalView = Omit<Snapshot, 'points'>

const maxShownCalls = 24

/** A table of the moment, a line each: a row per instance, and the sums. */
export function formatTable(view: TerminalView): readonly string[] {
  const { lanes, calls, totals, recent } = view
  const withClient = calls.filter(({ instance, state }) => instance === 0 && state === 'open')
  return [
    `${pc.bold('instance')}  ${pc.dim('status      late      moved on  calls')}`,
    ...lanes.map((lane) => formatLane(lane, calls)),
    pc.dim(`   ·      ${'with clients, or on their way'.padEnd(32)}${formatCalls(withClient)}`),
    '',
    `shedding ${view.sheds ? pc.green('on') : pc.yellow('off')}  ${formatTotals(totals)}`,
    formatTiming(recent),
  ]
}

/** The moment in one line, for where there is no terminal. */
export function formatLine({ lanes, totals, recent }: TerminalView): string {
  const states = lanes.map((lane) => `${lane.instance}:${stateOf(lane)}`).join(' ')
  return `${states}  ${formatTotals(totals)}  ${formatTiming(recent)}`
}

function formatLane(lane: LaneView, calls: readonly CallView[]): string {
  const laneCalls = calls.filter(({ instance, state }) => instance === lane.instance && state !== 'done')
  const delay = `${Math.round(lane.eventLoopDelayMs)} ms`.padStart(7)
  const cells = [
    `   ${lane.instance}     `,
    colorOf(lane)(stateOf(lane).padEnd(10)),
    delay,
    String(lane.moved).padStart(8),
    `  ${formatCalls(laneCalls)}`,
  ]
  return cells.join(' ')
}

function stateOf({ status, isOverloaded }: LaneView): string {
  return status === 'ready' && isOverloaded ? 'overloaded' : status
}

function colorOf({ status, isOverloaded }: LaneView): (text: string) => string {
  if (status === 'ready') return isOverloaded ? pc.red : pc.green
  return status === 'down' ? pc.red : pc.yellow
}

/** A sign for each call: how far it is, larger for heavy ones. */
function formatCalls(calls: readonly CallView[]): string {
  const symbols = calls.slice(0, maxShownCalls).map(symbolOf).join('')
  return calls.length > maxShownCalls ? `${symbols} +${calls.length - maxShownCalls}` : symbols
}

function symbolOf({ size, progress, state }: CallView): string {
  if (state === 'lost') return pc.red('×')
  if (size === 'light') return '·'
  return '▁▂▃▄▅▆▇█'[Math.min(7, Math.floor(progress * 8))] ?? '▁'
}

function formatTotals({ completed, lost, wrong, moved, repeated }: Totals): string {
  const formatProblem = (count: number, label: string): string =>
    count === 0 ? `${count} ${label}` : pc.red(`${count} ${label}`)
  const parts = [
    `${completed} completed`,
    formatProblem(lost, 'lost'),
    `${moved} moved`,
    formatProblem(repeated, 'chunks done twice'),
  ]
  return wrong === 0 ? parts.join(', ') : [...parts, formatProblem(wrong, 'wrong')].join(', ')
}

function formatTiming({ perSecond, p50Ms, p99Ms }: Timing): string {
  return `last 10 s: ${perSecond.toFixed(1)} calls/s, p50 ${formatMs(p50Ms)}, p99 ${formatMs(p99Ms)}`
}
