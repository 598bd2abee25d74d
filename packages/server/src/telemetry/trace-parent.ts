import {
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
} from '@opentelemetry/api'
import { type Call, isJsonObject, type JsonObject, type RpcRequest, traceContextOf } from '@x/schema'
import { parseTraceparent, restoredPartsKey } from '@x/schema/internal'

/** The name of the part under which telemetry records the span of a request. */
export const telemetryPart = 'telemetry'

/** The parent of a request's span, and the spans that it is linked to. */
export interface SpanParent {
  readonly context: Context
  readonly links: Link[]
}

/**
 * Returns the parent of the span of a request: the span that created the task, for an attempt of a task, else the span
 * of the caller, else the ambient span. The ambient span of a request with another parent is a link.
 */
export function parentOf(request: RpcRequest, call: Call, isTrusted: (call: Call) => boolean): SpanParent {
  const ambientContext = context.active()
  const taskParent = spanContextOf(call.context.get(restoredPartsKey)?.[telemetryPart])
  const meta = request.params?.['_meta']
  const callerParent = taskParent ?? spanContextOf(isJsonObject(meta) ? meta : undefined)
  if (callerParent === undefined) return { context: ambientContext, links: [] }
  if (taskParent === undefined && !isTrusted(call)) return { context: ambientContext, links: [{ context: callerParent }] }
  const ambientSpan = trace.getSpanContext(ambientContext)
  return {
    context: trace.setSpanContext(ambientSpan === undefined ? ROOT_CONTEXT : ambientContext, callerParent),
    links: ambientSpan !== undefined && isSpanContextValid(ambientSpan) ? [{ context: ambientSpan }] : [],
  }
}

/** Returns the span context of a `traceparent` and `tracestate`. Undefined if there is none. Baggage is not read. */
export function spanContextOf(carrier: JsonObject | undefined): SpanContext | undefined {
  const { traceparent, tracestate } = traceContextOf(carrier)
  const position = parseTraceparent(traceparent)
  if (position === undefined) return undefined
  return {
    ...position,
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  }
}
