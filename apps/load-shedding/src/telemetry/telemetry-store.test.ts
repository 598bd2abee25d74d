import { expect, test } from 'vitest'
import type { SpanView } from './telemetry-view.ts'
import { createTelemetryStore } from './telemetry-store.ts'

const span = (traceId: string, spanId: string, changes: Partial<SpanView> = {}): SpanView => ({
  traceId,
  spanId,
  name: spanId,
  kind: 'server',
  startedAt: 0,
  durationMs: 1,
  hasFailed: false,
  ...changes,
})

test('the trace that reached the most processes is shown after its call has ended', () => {
  const store = createTelemetryStore()
  store.addSpan(1, span('moved', 'a', { parentId: 'call', startedAt: 2 }))
  store.addSpan(2, span('moved', 'b', { parentId: 'call', startedAt: 5 }))
  store.addSpan(1, span('stayed', 'c', { parentId: 'root', startedAt: 1 }))
  store.addSpan(0, span('stayed', 'root'))
  expect(store.view().spans.map(({ spanId }) => spanId)).toEqual(['root', 'c'])
  store.addSpan(0, span('moved', 'call', { startedAt: 1 }))
  expect(store.view().spans.map(({ spanId, process }) => [spanId, process])).toEqual([
    ['call', 0],
    ['a', 1],
    ['b', 2],
  ])
})

test('the newest of equal traces is shown', () => {
  const store = createTelemetryStore()
  for (const trace of ['first', 'second']) store.addSpan(0, span(trace, `${trace} call`))
  expect(store.view().spans[0]?.traceId).toBe('second')
})

test('30 traces of at most 200 spans are kept', () => {
  const store = createTelemetryStore()
  for (let trace = 0; trace < 31; trace += 1) store.addSpan(0, span(`trace ${trace}`, 'call'))
  for (let index = 0; index < 300; index += 1) store.addSpan(1, span('trace 30', `span ${index}`, { parentId: 'call' }))
  expect(store.view().spans).toHaveLength(200)
  store.addSpan(2, span('trace 0', 'late', { parentId: 'call' }))
  expect(store.view().spans[0]?.traceId).toBe('trace 30')
})

test('metrics are added up over all processes, including ended ones', () => {
  const store = createTelemetryStore()
  store.setMetrics(1, [{ name: 'runs', attributes: 'tool=a', count: 2 }])
  store.setMetrics(1, [{ name: 'runs', attributes: 'tool=a', count: 3 }])
  store.setMetrics(2, [
    { name: 'runs', attributes: 'tool=b', count: 1 },
    { name: 'duration', attributes: '', count: 2, sum: 0.5 },
  ])
  store.retire(1)
  store.setMetrics(1, [
    { name: 'runs', attributes: 'tool=a', count: 1 },
    { name: 'duration', attributes: '', count: 1, sum: 1 },
  ])
  expect(store.view().metrics).toEqual([
    { name: 'duration', attributes: '', count: 3, sum: 1.5 },
    { name: 'runs', attributes: 'tool=a', count: 4 },
    { name: 'runs', attributes: 'tool=b', count: 1 },
  ])
})
