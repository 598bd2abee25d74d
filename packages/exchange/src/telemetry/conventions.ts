import { errorCodes, isJsonObject, legacyResourceNotFound, type RpcRequest } from '@x/schema'

/**
 * Names for spans and metrics. They follow the folder `model/mcp` of `open-telemetry/semantic-conventions-genai` at
 * 14567fad, with semantic conventions 1.41.0 of OpenTelemetry. Those that begin with `dev.x.` are our own, because the
 * conventions have none for them.
 */
export const conventions = {
  /** Names of attributes of spans and metrics. */
  attributes: {
    method: 'mcp.method.name',
    tool: 'gen_ai.tool.name',
    prompt: 'gen_ai.prompt.name',
    operation: 'gen_ai.operation.name',
    protocolVersion: 'mcp.protocol.version',
    sessionId: 'mcp.session.id',
    transport: 'network.transport',
    protocol: 'network.protocol.name',
    serverAddress: 'server.address',
    serverPort: 'server.port',
    statusCode: 'rpc.response.status_code',
    errorType: 'error.type',
    requestId: 'jsonrpc.request.id',
    clientAddress: 'client.address',
    runEnd: 'dev.x.run.end',
    runRound: 'dev.x.run.round',
    runSteps: 'dev.x.run.steps',
    runQuestions: 'dev.x.run.questions',
    runHandOffs: 'dev.x.run.hand_offs',
    handOffReason: 'dev.x.hand_off.reason',
    stateSize: 'dev.x.state.size',
    stateCode: 'dev.x.state.code',
    stepKey: 'dev.x.step.key',
    taskAttempt: 'dev.x.task.attempt',
    taskEnd: 'dev.x.task.end',
    taskStatus: 'dev.x.task.status',
    questionKind: 'dev.x.question.kind',
    answerAction: 'dev.x.answer.action',
    reason: 'dev.x.reason',
    upstream: 'dev.x.upstream',
  },
  /** Names of metrics. */
  metrics: {
    serverDuration: 'mcp.server.operation.duration',
    clientDuration: 'mcp.client.operation.duration',
    runs: 'dev.x.server.runs',
    rounds: 'dev.x.server.call.rounds',
    questions: 'dev.x.server.questions',
    answers: 'dev.x.server.answers',
    handOffs: 'dev.x.server.hand_offs',
    statesRejected: 'dev.x.server.state.rejected',
    refused: 'dev.x.server.refused',
    stateSize: 'dev.x.server.state.size',
    streams: 'dev.x.server.streams',
    attemptDuration: 'dev.x.tasks.attempt.duration',
    waitDuration: 'dev.x.tasks.wait.duration',
    takeovers: 'dev.x.tasks.takeovers',
    taskCount: 'dev.x.tasks.count',
    oldestTaskAge: 'dev.x.tasks.oldest.age',
  },
  /** For a method that the server does not serve. */
  otherMethod: '_OTHER',
  /** Buckets of a duration, in seconds. */
  durationBounds: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300],
} as const

/**
 * Methods of the published extensions. A client and a proxy do not know what a server serves, so they name these and
 * those of the protocol, and none that a caller could have invented.
 */
export const extensionMethods: ReadonlySet<string> = new Set([
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
  'skills/get',
  'resources/directory/read',
  'sessions/create',
  'sessions/delete',
])

const callerErrorCodes: ReadonlySet<number> = new Set([
  errorCodes.parse,
  errorCodes.invalidRequest,
  errorCodes.methodNotFound,
  errorCodes.invalidParams,
  errorCodes.headerMismatch,
  errorCodes.missingRequiredClientCapability,
  errorCodes.unsupportedProtocolVersion,
  legacyResourceNotFound,
])

/** The caller made the mistake, so it is no error of the server. */
export function isCallerError(code: number): boolean {
  return callerErrorCodes.has(code)
}

/** A span as OpenTelemetry identifies it. */
export interface SpanIdentity {
  readonly traceId: string
  readonly spanId: string
  readonly traceFlags: number
  readonly traceState?: { serialize(): string } | undefined
}

/** W3C Trace Context, version 00. */
export function formatTraceparent({ traceId, spanId, traceFlags }: SpanIdentity): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/**
 * Puts a span into the `_meta` of a request, in place of one that may be there (basic/index, OpenTelemetry trace
 * context).
 */
export function withTraceContext(request: RpcRequest, span: SpanIdentity): RpcRequest {
  const { params = {} } = request
  const { tracestate: _, ...meta } = isJsonObject(params['_meta']) ? params['_meta'] : {}
  const tracestate = span.traceState?.serialize()
  const traceContext = { traceparent: formatTraceparent(span), ...(tracestate && { tracestate }) }
  return { ...request, params: { ...params, _meta: { ...meta, ...traceContext } } }
}

/** Attributes of the outcome of a request or call. */
export function outcomeAttributesOf(outcome: {
  readonly statusCode?: string | undefined
  readonly errorType?: string | undefined
}): Record<string, string> {
  const { statusCode, errorType } = outcome
  return {
    ...(statusCode !== undefined && { [conventions.attributes.statusCode]: statusCode }),
    ...(errorType !== undefined && { [conventions.attributes.errorType]: errorType }),
  }
}
