import { context, SpanKind, trace, type Tracer } from '@opentelemetry/api'
import { isCancelled } from '@x/core'
import {
  type Call,
  clientAddressKey,
  clientSessionKey,
  type Exchange,
  type ExtensionHost,
  type ExtensionInstance,
  journalKey,
  type ServerExtension,
  taskAttemptKey,
  withContext,
} from '@x/exchange'
import type { RpcRequest, RpcResponse } from '@x/schema'
import {
  conventions,
  formatTraceparent,
  type HopObserver,
  hopObserverKey,
  recordedPartsKey,
  restoredPartsKey,
} from '@x/exchange/internal'
import { createHopTelemetry } from './hop-telemetry.ts'
import { Instruments, scopeName } from './instruments.ts'
import { createObserver } from './observe-events.ts'
import {
  cancelledOutcome,
  endRequestSpan,
  type Outcome,
  outcomeAttributes,
  outcomeOf,
  rejectedOutcome,
  RequestRecord,
  requestRecordKey,
} from './request-record.ts'
import { RequestTargets } from './request-target.ts'
import { parentOf, telemetryPart } from './trace-parent.ts'

export interface TelemetryOptions {
  /**
   * Returns true if a caller's trace may contain the spans of this server. Otherwise the caller's span is only a link,
   * and the caller does not decide whether the spans are sampled. Default: always true.
   */
  readonly isTrusted?: ((call: Call) => boolean) | undefined
}

/**
 * Records spans and metrics with `@opentelemetry/api`. Register the SDK of OpenTelemetry before the first request, and
 * put this extension before the others, so that its spans contain their work. Names follow OpenTelemetry's conventions
 * for MCP. No argument, answer, result, state or token is recorded.
 *
 * @example
 * const server = createServer({ ...definition, extensions: [telemetry(), tasks({ store })] })
 */
export function telemetry({ isTrusted = () => true }: TelemetryOptions = {}): ServerExtension<'telemetry'> {
  return { extends: 'server', name: 'telemetry', start: (host) => startTelemetry(host, isTrusted) }
}

interface TelemetryState {
  readonly tracer: Tracer
  readonly host: ExtensionHost
  readonly targets: RequestTargets
  readonly observeHop: (record: RequestRecord) => HopObserver
  readonly isTrusted: (call: Call) => boolean
  readonly getInstruments: () => Instruments
}

function startTelemetry(host: ExtensionHost, isTrusted: (call: Call) => boolean): ExtensionInstance {
  const tracer = trace.getTracer(scopeName)
  let instruments: Instruments | undefined
  // A program may register its meter provider after it has created the server, but before the first request.
  const getInstruments = (): Instruments => (instruments ??= new Instruments())
  const state = {
    tracer,
    host,
    isTrusted,
    getInstruments,
    targets: new RequestTargets((request) => host.offers(request)),
    observeHop: createHopTelemetry(host, getInstruments),
  }
  return {
    middleware: (next) => (request, call) =>
      isWorkerLookup(call) ? next(request, call) : observeRequest(state, next, request, call),
    observe: createObserver(state),
  }
}

/** True for the list of tools that the worker of tasks reads, because no caller has requested it. */
function isWorkerLookup({ context }: Call): boolean {
  return context.get(restoredPartsKey) !== undefined && context.get(journalKey) === undefined
}

function observeRequest(state: TelemetryState, next: Exchange, request: RpcRequest, call: Call): Promise<RpcResponse> {
  const startedAt = state.host.runtime.monotonicNow()
  const record = startRequest(state, request, call)
  const recordedCall = withContext(recordSpanInParts(call, record), requestRecordKey, record)
  const observedCall = withContext(recordedCall, hopObserverKey, state.observeHop(record))
  // Running a handler in a context costs more than the span, and a span that does not record has nothing to contain.
  const response = record.span.isRecording()
    ? context.with(record.spanContext, () => next(request, observedCall))
    : next(request, observedCall)
  const end = (outcome: Outcome, runEnd = record.run?.end): void =>
    endRequestRecord(state, record, outcome, { runEnd, startedAt })
  return response.then(
    (value) => {
      if (record.isRelayed && 'result' in value) state.targets.learn(request, value.result)
      if (record.isRelayed) renameByUpstream(state, record, request, call)
      recordStateSize(state, record, value)
      end(outcomeOf(value))
      return value
    },
    (error: unknown) => {
      if (record.isRelayed) renameByUpstream(state, record, request, call)
      if (isCancelled(call)) end(cancelledOutcome, record.run?.end ?? 'cancelled')
      else end(rejectedOutcome)
      throw error
    },
  )
}

function startRequest({ tracer, targets, isTrusted }: TelemetryState, request: RpcRequest, call: Call): RequestRecord {
  const target = targets.find(request, call)
  const parent = parentOf(request, call, isTrusted)
  const options = { kind: SpanKind.SERVER, attributes: target.attributes, links: parent.links }
  const span = tracer.startSpan(target.spanName, options, parent.context)
  if (span.isRecording()) {
    span.setAttribute(conventions.attributes.requestId, String(request.id))
    const address = call.context.get(clientAddressKey)
    if (address !== undefined) span.setAttribute(conventions.attributes.clientAddress, address)
    // With the id itself, a reader of the trace could use the session, so the span has its digest.
    const sessionDigest = call.context.get(clientSessionKey)
    if (sessionDigest !== undefined) span.setAttribute(conventions.attributes.sessionId, sessionDigest)
    const attempt = call.context.get(taskAttemptKey)
    if (attempt !== undefined) span.setAttribute(conventions.attributes.taskAttempt, attempt.attempt)
  }
  const spanContext = span.isRecording() ? trace.setSpan(parent.context, span) : parent.context
  const isAttempt = call.context.get(taskAttemptKey) !== undefined
  return new RequestRecord({ target, span, spanContext, isAttempt })
}

function renameByUpstream({ targets }: TelemetryState, record: RequestRecord, request: RpcRequest, call: Call): void {
  const target = targets.find(request, call, record.upstream)
  if (target !== record.target) record.setTarget(target)
}

/** Records the span in the call's journal and task, so that later rounds and attempts are linked to it. */
function recordSpanInParts(call: Call, { span }: RequestRecord): Call {
  if (!span.isRecording()) return call
  const part = () => ({
    value: { traceparent: formatTraceparent(span.spanContext()) },
    secret: {},
    isInJournal: true,
  })
  return withContext(call, recordedPartsKey, { ...call.context.get(recordedPartsKey), [telemetryPart]: part })
}

function recordStateSize(
  { getInstruments }: TelemetryState,
  { target, span }: RequestRecord,
  response: RpcResponse,
): void {
  if ('error' in response) return
  const { requestState } = response.result
  if (typeof requestState !== 'string') return
  getInstruments().stateSize.record(requestState.length, target.nameAttributes)
  span.setAttribute(conventions.attributes.stateSize, requestState.length)
}

function endRequestRecord(
  { host, getInstruments }: TelemetryState,
  record: RequestRecord,
  outcome: Outcome,
  { runEnd, startedAt }: { readonly runEnd: string | undefined; readonly startedAt: number },
): void {
  const attributes = outcomeAttributes(record, outcome, runEnd)
  endRequestSpan(record, outcome, attributes)
  // An attempt of a task is no request, and has a metric of its own.
  if (record.isAttempt) return
  // How long a stream lasts depends on its client, and says nothing about the server.
  if (record.target.isStreaming && outcome.errorType === undefined) return
  getInstruments().duration.record((host.runtime.monotonicNow() - startedAt) / 1000, attributes.all)
}
