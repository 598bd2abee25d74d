import {
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  type Link,
  type SpanContext,
  trace,
} from '@opentelemetry/api'
import { requireSync } from '@x/core'
import type { Call } from '@x/exchange'
import { isJsonObject, type JsonObject, type RpcRequest, traceContextOf } from '@x/schema'
import { restoredPartsKey } from '@x/exchange/internal'

/** Telemetry records a request's span under this name. */
export const telemetryPart = 'telemetry'

/**
 * For an attempt of a task, the span that created the task; else the caller's span, else the ambient one. If a request
 * has another parent, the ambient span is a link. The parent is in `context`.
 */
export function parentOf(
  request: RpcRequest,
  call: Call,
  isTrusted: (call: Call) => boolean,
): { readonly context: Context; readonly links: Link[] } {
  const ambientContext = context.active()
  const taskParent = spanContextOf(call.context.get(restoredPartsKey)?.[telemetryPart])
  if (taskParent !== undefined) return childOf(taskParent, ambientContext)
  const meta = request.params?.['_meta']
  const callerSpan = spanContextOf(isJsonObject(meta) ? meta : undefined)
  if (callerSpan === undefined) return { context: ambientContext, links: [] }
  return requireSync('isTrusted', isTrusted(call))
    ? childOf(callerSpan, ambientContext)
    : { context: ambientContext, links: [{ context: callerSpan }] }
}

function childOf(parent: SpanContext, ambientContext: Context): ReturnType<typeof parentOf> {
  const ambientSpan = trace.getSpanContext(ambientContext)
  const hasAmbientSpan =
    ambientSpan !== undefined && isSpanContextValid(ambientSpan) && ambientSpan.spanId !== parent.spanId
  return {
    context: trace.setSpanContext(ambientContext, parent),
    links: hasAmbientSpan ? [{ context: ambientSpan }] : [],
  }
}

/** Reads a `traceparent` and `tracestate`. Undefined if there is none. Baggage is not read. */
export function spanContextOf(carrier: JsonObject | undefined): SpanContext | undefined {
  if (carrier?.['traceparent'] === undefined) return undefined
  const { traceparent, tracestate } = traceContextOf(carrier)
  if (traceparent === undefined) return undefined
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  }
}
