import { type Context, type Span, SpanStatusCode } from '@opentelemetry/api'
import { contextKey, type ServerEvents } from '@x/exchange'
import type { RpcResponse } from '@x/schema'
import { conventions, isCallerError, outcomeAttributesOf } from '@x/exchange/internal'
import type { OutcomeAttributes, RequestTarget } from './request-target.ts'

/** The telemetry of one request. */
export class RequestRecord {
  /** As far as it is known. For a request to an upstream it is known at the end. */
  target: RequestTarget
  readonly span: Span
  /** The handler runs in this context, which has the span. It is the caller's context if the span does not record. */
  readonly spanContext: Context
  /** True for an attempt of a task, which no client has requested. */
  readonly isAttempt: boolean
  run: ServerEvents['run'] | undefined
  handOffReason: string | undefined
  /** True once a gateway or proxy has sent a request to an upstream. */
  isRelayed = false
  upstream: string | undefined

  constructor({
    target,
    span,
    spanContext,
    isAttempt,
  }: Pick<RequestRecord, 'target' | 'span' | 'spanContext' | 'isAttempt'>) {
    this.target = target
    this.span = span
    this.spanContext = spanContext
    this.isAttempt = isAttempt
  }

  setTarget(target: RequestTarget): void {
    this.target = target
    if (this.span.isRecording()) this.span.updateName(target.spanName).setAttributes(target.attributes)
  }

  setRun(run: ServerEvents['run']): void {
    this.run = run
  }

  setHandOff(reason: string): void {
    this.handOffReason = reason
  }

  setRelayed(): void {
    this.isRelayed = true
  }

  /** Sets the upstream once, because a gateway behind this one, in the same process, has upstreams of its own. */
  setUpstream(upstream: string): void {
    this.upstream ??= upstream
  }
}

/** Leads from a call to its request's record. */
export const requestRecordKey = contextKey<RequestRecord>('x/otel-request')

/** How a request ended, for its span and its metric. */
export interface Outcome {
  readonly statusCode: string | undefined
  readonly errorType: string | undefined
  /** Describes the span's status. Undefined unless that is an error. */
  readonly description: string | undefined
}

export const completedOutcome: Outcome = { statusCode: undefined, errorType: undefined, description: undefined }
const toolFailed: Outcome = { statusCode: undefined, errorType: 'tool_error', description: undefined }

export function outcomeOf(response: RpcResponse): Outcome {
  if (!('error' in response)) return response.result['isError'] === true ? toolFailed : completedOutcome
  const { code, message } = response.error
  const statusCode = String(code)
  if (isCallerError(code)) return { statusCode, errorType: undefined, description: undefined }
  return { statusCode, errorType: statusCode, description: message }
}

/** For a request that its caller cancelled. */
export const cancelledOutcome: Outcome = completedOutcome

/** For a request whose exchange rejected. */
export const rejectedOutcome: Outcome = { statusCode: undefined, errorType: '_OTHER', description: undefined }

/** A target stores attributes for at most this many outcomes, because codes may come from authors. */
const maxStoredOutcomes = 50

/** Attributes of an ended request: one object for the same target and outcome. */
export function outcomeAttributes(
  record: RequestRecord,
  outcome: Outcome,
  runEnd: string | undefined,
): OutcomeAttributes {
  const { target, handOffReason } = record
  const { statusCode, errorType } = outcome
  const isPlainEnd = statusCode === undefined && errorType === undefined && handOffReason === undefined
  const key = isPlainEnd ? (runEnd ?? '') : `${statusCode} ${errorType} ${runEnd} ${handOffReason}`
  const stored = target.outcomes.get(key)
  if (stored !== undefined) return stored
  const added = Object.freeze({
    ...outcomeAttributesOf(outcome),
    ...(runEnd !== undefined && { [conventions.attributes.runEnd]: runEnd }),
    ...(handOffReason !== undefined && { [conventions.attributes.handOffReason]: handOffReason }),
  })
  const attributes = { all: Object.freeze({ ...target.attributes, ...added }), added }
  if (target.outcomes.size < maxStoredOutcomes) target.outcomes.set(key, attributes)
  return attributes
}

export function endRequestSpan({ span, run }: RequestRecord, outcome: Outcome, { added }: OutcomeAttributes): void {
  // A span that does not record has no end, and that of a stream has ended.
  if (!span.isRecording()) return
  span.setAttributes(added)
  if (run !== undefined) {
    span.setAttribute(conventions.attributes.runRound, run.round)
    span.setAttribute(conventions.attributes.runSteps, run.stepCount)
    span.setAttribute(conventions.attributes.runQuestions, run.questionCount)
    span.setAttribute(conventions.attributes.runHandOffs, run.handOffCount)
  }
  endSpan(span, outcome)
}

/** Ends a span with the status of its outcome. */
export function endSpan(span: Span, { errorType, description }: Outcome): void {
  if (errorType !== undefined)
    span.setStatus({ code: SpanStatusCode.ERROR, ...(description !== undefined && { message: description }) })
  span.end()
}
