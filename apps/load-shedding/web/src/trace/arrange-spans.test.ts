import { expect, test } from 'vitest'
import type { ProcessSpan } from '../../../src/telemetry/telemetry-view.ts'
import { arrangeSpans } from './arrange-spans.ts'

const span = (spanId: string, parentId: string | undefined, startedAt: number, durationMs: number): ProcessSpan => ({
  traceId: 'trace',
  spanId,
  ...(parentId !== undefined && { parentId }),
  name: spanId,
  kind: 'server',
  startedAt,
  durationMs,
  hasFailed: false,
  process: 1,
})

test('each span is followed by its children in the order of their start', () => {
  const spans = [span('late', 'call', 60, 40), span('call', undefined, 0, 100), span('early', 'call', 10, 30)]
  const arranged = arrangeSpans([...spans, span('step', 'early', 20, 5)])
  expect(arranged.map(({ span: { name }, depth }) => [name, depth])).toEqual([
    ['call', 0],
    ['early', 1],
    ['step', 2],
    ['late', 1],
  ])
  expect(arranged[3]).toMatchObject({ start: 0.6, length: 0.4 })
})

test('a span without a recorded parent is the root of a tree, and a trace without spans is empty', () => {
  expect(arrangeSpans([span('root', 'unknown', 5, 0)])).toMatchObject([{ depth: 0, start: 0, length: 0 }])
  expect(arrangeSpans([])).toEqual([])
})
