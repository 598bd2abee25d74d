import { metrics, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { ParentBasedSampler } from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'
import { sampleOnceASecond } from './once-a-second.ts'
import { recordTelemetry } from './record-telemetry.ts'
import { metricView, type MetricView, type SpanView, spanView } from './telemetry-view.ts'

test('one trace per second is recorded, with all of its spans', async () => {
  let time = 0
  const spans: SpanView[] = []
  const values: MetricView[] = []
  const sampler = new ParentBasedSampler({ root: sampleOnceASecond(() => time) })
  using _ = recordTelemetry(sampler, {
    onSpan: (span) => spans.push(span),
    onMetrics: (views) => values.push(...views),
  })
  const tracer = trace.getTracer('test')
  const call = (name: string): void => {
    const parent = tracer.startSpan(name)
    const child = tracer.startSpan('child', { kind: SpanKind.SERVER }, trace.setSpan(ROOT_CONTEXT, parent))
    child.setStatus({ code: SpanStatusCode.ERROR })
    child.end()
    parent.end()
  }
  call('first')
  time = 999
  call('second')
  time = 1000
  call('third')
  expect(spans.map(({ name }) => name)).toEqual(['child', 'first', 'child', 'third'])
  expect(spans[0]).toMatchObject({ kind: 'server', parentId: spans[1]?.spanId, hasFailed: true })
  expect(spans[1]).not.toHaveProperty('parentId')
  for (const span of spans) expect(spanView.parse(span)).toEqual(span)
  metrics.getMeter('test').createCounter('runs').add(2, { tool: 'a' })
  metrics.getMeter('test').createHistogram('duration').record(0.5)
  await expect.poll(() => values.length).toBeGreaterThanOrEqual(2)
  expect(values.slice(0, 2)).toEqual([
    { name: 'runs', attributes: 'tool=a', count: 2 },
    { name: 'duration', attributes: '', count: 1, sum: 0.5 },
  ])
  for (const value of values) expect(metricView.parse(value)).toEqual(value)
})
