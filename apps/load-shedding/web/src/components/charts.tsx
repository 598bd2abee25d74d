import type { VNode } from 'preact'
import { formatMs } from '../../../src/board/format-ms.ts'
import type { LaneView, Point } from '../../../src/board/snapshot.ts'
import { Chart } from './chart.tsx'

interface ChartsProps {
  readonly points: readonly Point[]
  readonly lanes: readonly LaneView[]
}

const perSecond = (value: number): string => value.toFixed(1)

/** Charts of the throughput, the latency and the event-loop delays of the last two minutes. */
export function Charts({ points, lanes }: ChartsProps): VNode {
  const at = points.map((point) => point.at)
  return (
    <section class="charts" aria-label="The last two minutes">
      <Chart
        title="Throughput"
        note="per second"
        at={at}
        format={perSecond}
        series={[
          { name: 'calls completed', tone: 1, values: points.map((point) => point.perSecond) },
          { name: 'hand-offs', tone: 2, values: points.map((point) => point.movesPerSecond) },
        ]}
      />
      <Chart
        title="Latency"
        note="of the calls that completed in each second"
        at={at}
        format={formatMs}
        series={[
          { name: 'p50', tone: 1, values: points.map((point) => point.p50Ms) },
          { name: 'p99', tone: 2, values: points.map((point) => point.p99Ms) },
        ]}
      />
      <Chart
        title="Event-loop delay"
        note="the delay of a 100 ms timer"
        at={at}
        format={formatMs}
        series={lanes.map(({ instance }) => ({
          name: `instance ${instance}`,
          tone: instance,
          values: points.map((point) => point.delays[instance - 1] ?? null),
        }))}
      />
    </section>
  )
}
