import type { VNode } from 'preact'
import { formatMs } from '../../../src/board/format-ms.ts'
import type { MetricView, TelemetryView } from '../../../src/telemetry/telemetry-view.ts'
import { type ArrangedSpan, arrangeSpans } from './arrange-spans.ts'

/** The page with the trace of one call and the metrics of all instances. */
export function TracePage({ view }: { readonly view: TelemetryView }): VNode {
  return (
    <>
      <header class="page-header">
        <img src="/icon.svg" alt="" width="36" height="36" />
        <div>
          <h1>Trace and metrics</h1>
          <p>Recorded by this run with OpenTelemetry, and not exported to other services</p>
        </div>
        <p class="server">
          <a href="/">Instances and calls</a>
        </p>
      </header>
      <main>
        <Trace spans={arrangeSpans(view.spans)} />
        <Metrics metrics={view.metrics} />
      </main>
    </>
  )
}

function Trace({ spans }: { readonly spans: readonly ArrangedSpan[] }): VNode {
  const instances = new Set(spans.map(({ span }) => span.process).filter((process) => process > 0))
  return (
    <section class="card telemetry" aria-labelledby="trace">
      <h2 id="trace">The trace of one call</h2>
      {spans.length === 0 ? (
        <p class="hint">No call has been traced yet. One call per second is traced.</p>
      ) : (
        <>
          <p class="hint">
            {spans.length} spans of the client and {instances.size} {instances.size === 1 ? 'instance' : 'instances'}.
            Each request that continues the call is a span of its own.
          </p>
          <div class="scroll">
            <table data-trace>
              <thead>
                <tr>
                  <th scope="col">Process</th>
                  <th scope="col">Span</th>
                  <th scope="col">Duration</th>
                  <th scope="col" class="bars">
                    Time
                  </th>
                </tr>
              </thead>
              <tbody>
                {spans.map((arranged) => (
                  <SpanRow key={arranged.span.spanId} arranged={arranged} />
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  )
}

const indentPx = 16

function SpanRow({ arranged: { span, depth, start, length } }: { readonly arranged: ArrangedSpan }): VNode {
  const { process, name, kind, durationMs, hasFailed } = span
  return (
    <tr data-process={process}>
      <td>{process === 0 ? 'client' : `instance ${process}`}</td>
      <th scope="row" style={{ paddingLeft: `${depth * indentPx}px` }}>
        {name} <span class="hint">{kind}</span>
        {hasFailed && <span class="failed"> failed</span>}
      </th>
      <td class="number">{formatMs(durationMs)}</td>
      <td class="bars">
        <svg class={`bar tone-${process}`} aria-hidden="true">
          <rect x={`${start * 100}%`} width={`${Math.max(length * 100, 0.5)}%`} height="100%" rx="2" />
        </svg>
      </td>
    </tr>
  )
}

function Metrics({ metrics }: { readonly metrics: readonly MetricView[] }): VNode {
  return (
    <section class="card telemetry" aria-labelledby="metrics">
      <h2 id="metrics">The metrics of the client and all instances</h2>
      {metrics.length === 0 ? (
        <p class="hint">No metrics have been read yet.</p>
      ) : (
        <div class="scroll">
          <table data-metrics>
            <thead>
              <tr>
                <th scope="col">Metric</th>
                <th scope="col">Attributes</th>
                <th scope="col">Count</th>
                <th scope="col">Mean</th>
              </tr>
            </thead>
            <tbody>
              {metrics.map(({ name, attributes, count, sum }) => (
                <tr key={`${name} ${attributes}`}>
                  <th scope="row">
                    <code>{name}</code>
                  </th>
                  <td class="attributes">{attributes}</td>
                  <td class="number">{count}</td>
                  <td class="number">{sum === undefined || count === 0 ? '' : formatMean(name, sum / count)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

/** Formats a mean. Durations are in seconds, and all other histograms have no unit. */
function formatMean(name: string, mean: number): string {
  return name.endsWith('duration') ? formatMs(mean * 1000) : mean.toFixed(1)
}
