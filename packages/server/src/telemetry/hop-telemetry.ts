import { context, isSpanContextValid, SpanKind, trace } from '@opentelemetry/api'
import { isCancelled } from '@x/core'
import { type Call, type Exchange, type ExtensionHost, withNotify } from '@x/exchange'
import { type HopObserver, withTraceContext, outcomeAttributesOf } from '@x/exchange/internal'
import type { RpcRequest, RpcResponse } from '@x/schema'
import { type Instruments, scopeName } from './instruments.ts'
import {
  completedOutcome,
  endSpan,
  type Outcome,
  outcomeOf,
  rejectedOutcome,
  type RequestRecord,
} from './request-record.ts'
import { RequestTargets } from './request-target.ts'

/**
 * Observes requests to upstreams. Each has a span of the kind CLIENT below that of its host's request, and the upstream
 * receives this span's context, so that its own span is a child.
 */
export function createHopTelemetry(
  host: ExtensionHost,
  getInstruments: () => Instruments,
): (record: RequestRecord) => HopObserver {
  const tracer = trace.getTracer(scopeName)
  // Two upstreams may have tools of the same name, and one of them may not have the other's. Bounded by the upstreams.
  const targetsByUpstream = new Map<string, RequestTargets>()
  const targetsOf = (upstream: string): RequestTargets => {
    const targets = targetsByUpstream.get(upstream) ?? new RequestTargets((request) => host.offers(request))
    targetsByUpstream.set(upstream, targets)
    return targets
  }

  const send = async (
    { record, upstream }: { readonly record: RequestRecord; readonly upstream: string },
    next: Exchange,
    request: RpcRequest,
    call: Call,
  ): Promise<RpcResponse> => {
    const targets = targetsOf(upstream)
    const startedAt = host.runtime.monotonicNow()
    const { spanName, attributes, isStreaming } = targets.find(request, undefined, upstream)
    const span = tracer.startSpan(spanName, { kind: SpanKind.CLIENT, attributes }, record.spanContext)
    let hasEnded = false
    const end = (outcome: Outcome): void => {
      if (hasEnded) return
      hasEnded = true
      const target = targets.find(request, undefined, upstream)
      const added = outcomeAttributesOf(outcome)
      endSpan(span.updateName(target.spanName).setAttributes(target.attributes).setAttributes(added), outcome)
      if (!isStreaming)
        getInstruments().hopDuration.record((host.runtime.monotonicNow() - startedAt) / 1000, {
          ...target.attributes,
          ...added,
        })
    }
    try {
      const spanContext = span.spanContext()
      const sent = isSpanContextValid(spanContext) ? withTraceContext(request, spanContext) : request
      const response = await context.with(trace.setSpan(record.spanContext, span), () =>
        next(sent, isStreaming ? withEndOfSpans(call, record, () => end(completedOutcome)) : call),
      )
      if ('result' in response) targets.learn(request, response.result)
      end(outcomeOf(response))
      return response
    } catch (error) {
      end(isCancelled(call) ? { ...rejectedOutcome, errorType: 'cancelled' } : rejectedOutcome)
      throw error
    }
  }

  return (record) => ({
    setUpstream: (upstream) => record.setUpstream(upstream),
    observe: (upstream) => {
      record.setRelayed()
      return (next) => (request, call) => send({ record, upstream }, next, request, call)
    },
  })
}

/**
 * Ends a stream's spans with its first notification, the acknowledgement; otherwise they would reach the exporter hours
 * later.
 */
function withEndOfSpans(call: Call, { span }: RequestRecord, end: () => void): Call {
  return withNotify(call, (notification) => {
    end()
    if (span.isRecording()) span.end()
    call.notify(notification)
  })
}
