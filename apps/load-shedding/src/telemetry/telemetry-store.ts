import type { MetricView, ProcessSpan, SpanView, TelemetryView } from './telemetry-view.ts'

/** The last traces, and the metrics of the client and of all instances. */
export interface TelemetryStore {
  /** Adds a span that has ended. `process` is 0 for the client, and otherwise the number of the instance. */
  addSpan(process: number, span: SpanView): void
  /** Replaces the metrics of a process with its newest values. */
  setMetrics(process: number, metrics: readonly MetricView[]): void
  /** Keeps the metrics of a process that has ended. Another process continues under its number. */
  retire(process: number): void
  /** Returns the trace that reached the most processes, the newest one among equals, and all metrics. */
  view(): TelemetryView
}

const maxTraces = 30
const maxSpansOfTrace = 200

/** Creates a {@link TelemetryStore} without a trace. */
export function createTelemetryStore(): TelemetryStore {
  const traces = new Map<string, ProcessSpan[]>()
  const metricsByProcess = new Map<number, readonly MetricView[]>()
  let retiredMetrics: readonly MetricView[] = []
  return {
    addSpan(process, span) {
      const spans = traces.get(span.traceId) ?? []
      if (spans.length < maxSpansOfTrace) spans.push({ ...span, process })
      traces.set(span.traceId, spans)
      const [oldestId] = traces.keys()
      if (traces.size > maxTraces && oldestId !== undefined) traces.delete(oldestId)
    },
    setMetrics: (process, metrics) => void metricsByProcess.set(process, metrics),
    retire(process) {
      retiredMetrics = sumMetrics([...retiredMetrics, ...(metricsByProcess.get(process) ?? [])])
      metricsByProcess.delete(process)
    },
    view: () => ({
      spans: chooseTrace([...traces.values()]).toSorted((one, other) => one.startedAt - other.startedAt),
      metrics: sumMetrics([...retiredMetrics, ...Array.from(metricsByProcess.values()).flat()]),
    }),
  }
}

/**
 * Returns the complete trace that reached the most processes, and the newest one of equal traces. A trace is complete
 * after the span of the whole call has ended.
 */
function chooseTrace(traces: readonly (readonly ProcessSpan[])[]): readonly ProcessSpan[] {
  const complete = traces.filter((spans) => spans.some(({ parentId }) => parentId === undefined))
  const countProcesses = (spans: readonly ProcessSpan[]): number => new Set(spans.map(({ process }) => process)).size
  return complete.reduce((best, spans) => (countProcesses(spans) >= countProcesses(best) ? spans : best), [])
}

/** Adds up the values of each metric with the same attributes. Returns the sums, sorted by name. */
function sumMetrics(metrics: readonly MetricView[]): readonly MetricView[] {
  const sums = new Map<string, MetricView>()
  for (const metric of metrics) {
    const key = `${metric.name} ${metric.attributes}`
    const known = sums.get(key)
    const sum = metric.sum === undefined ? undefined : metric.sum + (known?.sum ?? 0)
    sums.set(key, { ...metric, count: metric.count + (known?.count ?? 0), ...(sum !== undefined && { sum }) })
  }
  return Array.from(sums)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([, metric]) => metric)
}
