import type { VNode } from 'preact'
import { formatMs } from '../../../src/board/format-ms.ts'
import type { Timing, Totals } from '../../../src/board/snapshot.ts'

/** The totals since the start, and the statistics of the last ten seconds. */
export function Sums({ totals, recent }: { readonly totals: Totals; readonly recent: Timing }): VNode {
  return (
    <dl class="sums">
      <Sum name="calls completed" value={totals.completed} />
      <Sum name="hand-offs" value={totals.moved} />
      <Sum name="calls lost" value={totals.lost} isBad={totals.lost > 0} />
      <Sum name="chunks of work repeated" value={totals.repeated} isBad={totals.repeated > 0} />
      <Sum name="calls per second, last 10 s" value={recent.perSecond.toFixed(1)} />
      <Sum name="p50 latency, last 10 s" value={formatMs(recent.p50Ms)} />
      <Sum name="p99 latency, last 10 s" value={formatMs(recent.p99Ms)} />
      {totals.wrong > 0 && <Sum name="wrong results" value={totals.wrong} isBad />}
    </dl>
  )
}

interface SumProps {
  readonly name: string
  readonly value: number | string
  readonly isBad?: boolean
}

function Sum({ name, value, isBad = false }: SumProps): VNode {
  return (
    <div class={isBad ? 'sum bad' : 'sum'}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
