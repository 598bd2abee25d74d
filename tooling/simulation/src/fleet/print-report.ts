import { invariants } from './invariants/violations.ts'
import type { SeedReport } from './run-seed.ts'
import { formatLine, type TraceLine } from './trace.ts'

/** The sums over several seeds. */
export interface Totals {
  seeds: number
  virtualMs: number
  events: number
  completed: number
  failed: number
  readonly failedSeeds: number[]
  readonly faults: Map<string, number>
  add(report: SeedReport): void
}

/** Creates empty totals. */
export function createTotals(): Totals {
  return {
    seeds: 0,
    virtualMs: 0,
    events: 0,
    completed: 0,
    failed: 0,
    failedSeeds: [],
    faults: new Map(),
    add(report) {
      this.seeds += 1
      this.virtualMs += report.virtualMs
      this.events += report.events
      this.completed += report.completed
      this.failed += report.failed
      if (report.violations.length > 0) this.failedSeeds.push(report.seed)
      for (const [kind, count] of report.faults) this.faults.set(kind, (this.faults.get(kind) ?? 0) + count)
    },
  }
}

/**
 * Returns the lines about one seed, with the whole trace if `showsTrace` is true. They are empty for a seed without a
 * broken invariant, unless the trace is shown.
 */
export function formatReport(report: SeedReport, showsTrace: boolean): string {
  const { seed, trace, violations } = report
  if (!showsTrace && violations.length === 0) return ''
  const lines = (showsTrace ? trace : relevantLines(report)).map(formatLine)
  const reasons = violations.map(({ invariant, detail }) => `broken: ${invariants[invariant]}\n  ${detail}`)
  const command = `pnpm simulation:fleet --from ${seed} --seeds 1`
  return [`seed ${seed}`, ...lines, ...reasons, `full trace: ${command} --trace`, ''].join('\n')
}

/** Names of calls and instances, and short ids of tasks, in the lines of a trace: `a-polling.3` and `#7`. */
const subjects = /#\d+\b|\b[a-z]-[a-z]+\.\d+|\bserver-\d+\b/gu

/** The maximum number of relevant lines, and the number of lines directly before a violation. */
const maxRelevantLines = 80
const lastLines = 10

/** Returns the faults, the lines about the subjects of the violations, and the last lines before them. */
function relevantLines({ trace, violations }: SeedReport): readonly TraceLine[] {
  const firstViolation = trace.findIndex(({ text }) => text.startsWith('VIOLATION'))
  const named = new Set(violations.flatMap(({ invariant: _, detail }) => detail.match(subjects) ?? []))
  for (const { text } of trace.slice(firstViolation))
    for (const subject of text.match(subjects) ?? []) named.add(subject)
  const isRelevant = ({ host, text }: TraceLine, index: number): boolean =>
    index >= firstViolation - lastLines ||
    text.startsWith('fault: ') ||
    named.has(host) ||
    (text.match(subjects) ?? []).some((subject) => named.has(subject))
  return trace.filter(isRelevant).slice(-maxRelevantLines)
}

/** Returns the last line: seeds, virtual time, calls and faults. */
export function formatTotals(totals: Totals, tookMs: number): string {
  const { seeds, failedSeeds, virtualMs, events, completed, failed, faults } = totals
  const failures = failedSeeds.length === 0 ? 'no invariant broken' : `broken with seeds ${failedSeeds.join(', ')}`
  const faultCount = [...faults.values()].reduce((sum, count) => sum + count, 0)
  const kinds = [...faults].toSorted().map(([kind, count]) => `${count} ${kind}`)
  return `${seeds} seeds: ${failures}
${(virtualMs / 3_600_000).toFixed(2)} virtual hours, ${events} events, ${completed} calls completed, ${failed} failed during faults
${faultCount} faults: ${kinds.join(', ')}
${(tookMs / 1000).toFixed(1)} s
`
}
