import {
  type Attributes,
  context,
  type Histogram,
  isSpanContextValid,
  metrics,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { codeOf, isCancelled, platformRuntime } from '@x/core'
import type { Call, Exchange } from '@x/exchange'
import { protocolVersion, type RpcRequest, type RpcResponse } from '@x/schema'
import {
  conventions,
  createKnownNames,
  isCallerError,
  type KnownNames,
  type NamedTarget,
  outcomeAttributesOf,
  withTraceContext,
} from '@x/exchange/internal'
import type { ClientExtension, ClientExtensionHost, ClientExtensionInstance } from '../extensions/client-extension.ts'
import { isClientError, isUnanswered } from '../request/client-error.ts'
import type { SendCall } from '../rounds/wrapped-calls.ts'
import { callTargetOf, nameAttributesOf, serverAttributesOf } from './call-target.ts'

const scopeName = '@x/client'

/**
 * Records spans and metrics of calls with `@opentelemetry/api`, and sends the trace context to the server (basic/index,
 * OpenTelemetry trace context). Register OpenTelemetry's SDK before the first call, and put this extension before the
 * others, so that its spans contain their work. Names follow OpenTelemetry's conventions for MCP. No argument, answer,
 * result, state or token is recorded.
 *
 * @example
 * const client = createClient(connection, { name: 'host', version: '1.0.0', extensions: [telemetry(), tasksClient()] })
 */
export function telemetry(): ClientExtension<'telemetry'> {
  return { extends: 'client', name: 'telemetry', start: startClientTelemetry }
}

interface TelemetryState {
  readonly tracer: Tracer
  readonly knownNames: KnownNames
  readonly serverAttributes: Attributes
  readonly getRevision: () => Attributes
  readonly now: () => number
  readonly getDuration: () => Histogram
}

function startClientTelemetry(host: ClientExtensionHost): ClientExtensionInstance {
  const { url, options } = host
  let duration: Histogram | undefined
  const state: TelemetryState = {
    tracer: trace.getTracer(scopeName),
    knownNames: createKnownNames(),
    serverAttributes: serverAttributesOf(url),
    getRevision: () => ({
      [conventions.attributes.protocolVersion]: host.peer?.revision ?? protocolVersion,
    }),
    now: () => (options.runtime ?? platformRuntime).monotonicNow(),
    // A program may register its meter provider after it has created the client, as long as that is before the first
    // call.
    getDuration: () => (duration ??= createDuration()),
  }
  return {
    middleware: (next) => (request, call) => recordRequest(state, next, request, call),
    wrapCall: (next) => (call) => recordCall(state, next, call),
  }
}

function createDuration(): Histogram {
  return metrics.getMeter(scopeName).createHistogram(conventions.metrics.clientDuration, {
    unit: 's',
    description: 'The duration of requests',
    advice: { explicitBucketBoundaries: [...conventions.durationBounds] },
  })
}

async function recordCall(state: TelemetryState, next: SendCall, call: Parameters<SendCall>[0]): ReturnType<SendCall> {
  const { tracer, knownNames, serverAttributes, getRevision } = state
  const target = callTargetOf(call.method, call.params, serverAttributes)
  const span = tracer.startSpan(spanNameOf('call', target, knownNames), {
    kind: SpanKind.INTERNAL,
    attributes: { ...target.attributes, ...nameAttributesOf(target, knownNames) },
  })
  const send = () => next(call)
  const end = (outcome: Outcome): void =>
    endCallSpan(span, outcome, {
      name: spanNameOf('call', target, knownNames),
      attributes: { ...nameAttributesOf(target, knownNames), ...getRevision() },
    })
  try {
    const outcome = await (isSpanContextValid(span.spanContext())
      ? context.with(trace.setSpan(context.active(), span), send)
      : send())
    const isError = outcome.resultType === 'complete' && 'isError' in outcome.result && outcome.result.isError === true
    end(isError ? { errorType: 'tool_error' } : {})
    return outcome
  } catch (error) {
    end({ errorType: errorTypeOf(error, call.options.signal?.aborted === true) })
    throw error
  }
}

function recordRequest(state: TelemetryState, next: Exchange, request: RpcRequest, call: Call): Promise<RpcResponse> {
  const { tracer, knownNames, serverAttributes, getRevision, now } = state
  const { method, params } = request
  const target = callTargetOf(method, params, serverAttributes)
  const span = tracer.startSpan(spanNameOf(method, target, knownNames), {
    kind: SpanKind.CLIENT,
    attributes: { ...target.attributes, ...nameAttributesOf(target, knownNames) },
  })
  span.setAttribute(conventions.attributes.requestId, String(request.id))
  const startedAt = now()
  const end = (outcome: Outcome): void => {
    const attributes = { ...nameAttributesOf(target, knownNames), ...getRevision(), ...outcomeAttributesOf(outcome) }
    endCallSpan(span, outcome, { name: spanNameOf(method, target, knownNames), attributes })
    // A stream stays open for as long as its client wants.
    if (!target.isStreaming)
      state.getDuration().record((now() - startedAt) / 1000, { ...target.attributes, ...attributes })
  }
  const hasTrace = isSpanContextValid(span.spanContext())
  const send = (): Promise<RpcResponse> =>
    next(hasTrace ? withTraceContext(request, span.spanContext()) : request, call)
  const response = hasTrace ? context.with(trace.setSpan(context.active(), span), send) : send()
  return response.then(
    (value) => {
      if (!('error' in value)) knownNames.learn(method, target, value.result)
      end(callOutcomeOf(value))
      return value
    },
    (error: unknown) => {
      end({ errorType: errorTypeOf(isCancelled(call) ? call.signal.reason : error, isCancelled(call)) })
      throw error
    },
  )
}

function spanNameOf(prefix: string, target: NamedTarget, knownNames: KnownNames): string {
  return knownNames.has(target) ? `${prefix} ${target.name}` : prefix
}

interface Outcome {
  readonly statusCode?: string | undefined
  readonly errorType?: string | undefined
  readonly description?: string | undefined
}

function callOutcomeOf(response: RpcResponse): Outcome {
  if (!('error' in response)) return response.result['isError'] === true ? { errorType: 'tool_error' } : {}
  const { code, message } = response.error
  const statusCode = String(code)
  // Messages of a caller's mistake are about its params, which are not recorded.
  return { statusCode, errorType: statusCode, description: isCallerError(code) ? undefined : message }
}

function errorTypeOf(error: unknown, isCancelled: boolean): string {
  if (isUnanswered(error)) return errorTypeOf(error.cause, false)
  if (isClientError(error)) return error.rpc === undefined ? error.code : String(error.rpc.code)
  return isCancelled ? 'cancelled' : (codeOf(error) ?? '_OTHER')
}

/** Ends a span. Its tool's name may have become known since it began. */
function endCallSpan(
  span: Span,
  { errorType, description }: Outcome,
  known: { readonly name: string; readonly attributes: Attributes },
): void {
  span.updateName(known.name)
  span.setAttributes(known.attributes)
  if (errorType !== undefined) {
    span.setAttribute(conventions.attributes.errorType, errorType)
    span.setStatus({ code: SpanStatusCode.ERROR, ...(description !== undefined && { message: description }) })
  }
  span.end()
}
