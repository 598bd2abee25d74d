import pc from 'picocolors'
import { formatMs } from '../board/format-ms.ts'
import type { CallView, LaneView, Snapshot, Timing, Totals } from '../board/snapshot.ts'

/** The data that the terminal shows. */
export type TerminalView = Omit<Snapshot, 'points'>

const maxShownCalls = 24

/** Formats a table with a row for each instance, and the totals. Returns its lines. */
export function formatTable(view: TerminalView): readonly string[] {
  const { lanes, calls, totals, recent } = view
  const withClient = calls.filter(({ instance, state }) => instance === 0 && state === 'open')
  return [
    `${pc.bold('instance')}  ${pc.dim('status       delay  handed off  calls')}`,
    ...lanes.map((lane) => formatLane(lane, calls)),
    pc.dim(`   ·      ${'with clients or in transit'.padEnd(32)}${formatCalls(withClient)}`),
    '',
    `shedding ${view.sheds ? pc.green('on') : pc.yellow('off')}  ${formatTotals(totals)}`,
    formatTiming(recent),
  ]
}

/** Formats the state of the run as one line. */
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
    String(lane.moved).padStart(11),
    ` ${formatCalls(laneCalls)}`,
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

/** Formats each call as a symbol: a dot for a light call, a bar of its progress for a heavy one. */
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
    `${moved} ${moved === 1 ? 'hand-off' : 'hand-offs'}`,
    formatProblem(repeated, 'chunks repeated'),
  ]
  return wrong === 0 ? parts.join(', ') : [...parts, formatProblem(wrong, 'wrong')].join(', ')
}

function formatTiming({ perSecond, p50Ms, p99Ms }: Timing): string {
  return `last 10 s: ${perSecond.toFixed(1)} calls/s, p50 ${formatMs(p50Ms)}, p99 ${formatMs(p99Ms)}`
}
