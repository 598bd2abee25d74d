import type { ProcessSpan } from '../../../src/telemetry/telemetry-view.ts'

/** A span in the tree of its trace. */
export interface ArrangedSpan {
  readonly span: ProcessSpan
  /** The number of its ancestors. */
  readonly depth: number
  /** The start and the duration, as shares of the whole trace from 0 to 1. */
  readonly start: number
  readonly length: number
}

/** Arranges the spans of a trace as a tree: each span is followed by its children, in the order of their start. */
export function arrangeSpans(spans: readonly ProcessSpan[]): readonly ArrangedSpan[] {
  if (spans.length === 0) return []
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const beginsAt = Math.min(...spans.map(({ startedAt }) => startedAt))
  const endsAt = Math.max(...spans.map(({ startedAt, durationMs }) => startedAt + durationMs))
  const totalMs = Math.max(endsAt - beginsAt, 1)
  const childrenOf = (parentId: string | undefined): readonly ProcessSpan[] =>
    spans
      .filter((span) => (parentId === undefined ? !ids.has(span.parentId ?? '') : span.parentId === parentId))
      .toSorted((one, other) => one.startedAt - other.startedAt)
  const arrange = (parentId: string | undefined, depth: number): readonly ArrangedSpan[] =>
    childrenOf(parentId).flatMap((span) => [
      { span, depth, start: (span.startedAt - beginsAt) / totalMs, length: span.durationMs / totalMs },
      ...arrange(span.spanId, depth + 1),
    ])
  return arrange(undefined, 0)
}
