import { checkArgument, callListener, errorRecord, isCancelled, type LogRecord, quoteText } from '@x/core'
import {
  type Call,
  contextKey,
  type Exchange,
  type ExtensionHost,
  type ExtensionInstance,
  type ServerEvent,
  type ServerExtension,
  taskAttemptKey,
  withContext,
} from '@x/exchange'
import {
  errorCodes,
  findMethodRow,
  isJsonObject,
  metaKeys,
  requestMetaOf,
  type RpcRequest,
  type RpcResponse,
  type WireError,
} from '@x/schema'
import { capabilityNamesOf } from '@x/schema/internal'
import { isCallerError } from '@x/exchange/internal'
import { isToolError } from '../definitions/tool.ts'
import { logContextOf } from '../request/report.ts'

/** The record of one call that failed or was slow. It has the members of every log record of the server. */
export interface CallRecord extends LogRecord {
  readonly level: 'warn' | 'error'
  /**
   * The code of the error that the caller received, `tool_error` for a result with `isError`, `rejected` if there was
   * no response, or `slow`. A run of a task is never `slow`, because no caller waits for it.
   */
  readonly code: string
  readonly method: string
  readonly requestId: string | number
  /** The duration of this request in milliseconds. */
  readonly durationMs: number
  /** The number of rounds in which the client was asked before. */
  readonly round: number
  /** The number of steps whose work this request has done. */
  readonly steps: number
  readonly handOffs: number
  readonly slowestStep?: { readonly key: string; readonly ms: number } | undefined
}

/** Options of {@link callLog}. */
export interface CallLogOptions {
  /** Receives the records. A function for the option `log` of `createServer` is suitable. */
  readonly log: (record: CallRecord) => void
  /** Milliseconds after which a request is slow. Default: 10,000. */
  readonly slowMs?: number | undefined
}

/** The default is longer than most calls of tools, and shorter than the time limit of most clients. */
const defaultSlowMs = 10_000

/**
 * Creates the extension that writes one record for each request that failed or was slow. A stream causes no record, and
 * neither does a request that is rejected because of its caller (-32700, -32600, -32601, -32602). A result with
 * `isError` does, also if the arguments were invalid. An error that the server has logged has no second record. The
 * record identifies the request as the server's other log records do, so both can be joined by `requestId`, `taskId` or
 * `traceId`. It contains no argument, answer, result, state or token, except for what an author put into a thrown
 * `err`.
 *
 * @example
 * callLog({ log: ({ level, message, ...record }) => logger[level](record, message) }) // pino
 */
export function callLog(options: CallLogOptions): ServerExtension<'callLog'> {
  checkArgument(options, { where: 'callLog', takes: 'an object with log, a function for the records', needs: ['log'] })
  const { log, slowMs = defaultSlowMs } = options
  return { extends: 'server', name: 'callLog', start: (host) => startCallLog(host, { log, slowMs }) }
}

/** The events of one request. */
interface Observation {
  round: number
  steps: number
  handOffs: number
  slowestStep: CallRecord['slowestStep']
  error: unknown
}

const observationKey = contextKey<Observation>('x/call-log')

function startCallLog(
  host: ExtensionHost,
  { log, slowMs }: Required<CallLogOptions> & { readonly slowMs: number },
): ExtensionInstance {
  // The server has logged these errors with their stacks.
  const loggedErrors = new WeakSet<object>()
  const { runtime } = host
  const recordCall = async (next: Exchange, request: RpcRequest, call: Call): Promise<RpcResponse> => {
    const startedAt = runtime.monotonicNow()
    const isTaskRun = call.context.get(taskAttemptKey) !== undefined
    const observation: Observation = { round: 0, steps: 0, handOffs: 0, slowestStep: undefined, error: undefined }
    const writeRecord = (code: string | undefined, error?: WireError): void => {
      const durationMs = runtime.monotonicNow() - startedAt
      if (code === undefined && (durationMs < slowMs || isTaskRun)) return
      if (isObject(observation.error) && loggedErrors.has(observation.error)) return
      const described = { ...request, call, name: host.offers(request)?.name }
      const record = createCallRecord(
        described,
        { code, durationMs, lacking: describeMissingCapability(error, request) },
        observation,
      )
      // The request has its response, whether or not its record could be written.
      callListener(log, record, (error) => host.log(errorRecord(error, { method: 'callLog' })))
    }
    try {
      const response = await next(request, withContext(call, observationKey, observation))
      writeRecord(failureCodeOf(response), 'error' in response ? response.error : undefined)
      return response
    } catch (error) {
      // What a call throws after its caller, or the stop of its instance, has ended it is no failure.
      observation.error = isCancelled(call) ? undefined : (observation.error ?? error)
      writeRecord(isCancelled(call) ? undefined : 'rejected')
      throw error
    }
  }
  return {
    middleware: (next) => (request, call) =>
      findMethodRow(request.method)?.isStreaming === true ? next(request, call) : recordCall(next, request, call),
    observe: (event) => {
      if (event.type === 'error' && isObject(event.error)) loggedErrors.add(event.error)
      else observeCall(event)
    },
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function observeCall(event: ServerEvent): void {
  if (event.type !== 'run' && event.type !== 'step') return
  const observation = event.call.context.get(observationKey)
  if (observation === undefined) return
  if (event.type === 'run') {
    observation.round = event.round
    observation.handOffs = event.handOffCount
    observation.error = event.error
    return
  }
  observation.steps += 1
  if (event.durationMs > (observation.slowestStep?.ms ?? -1))
    observation.slowestStep = { key: event.key, ms: event.durationMs }
}

/** Returns the code of a failure that is not the caller's. Undefined for a success. */
function failureCodeOf(response: RpcResponse): string | undefined {
  if ('error' in response) return isCallerError(response.error.code) ? undefined : String(response.error.code)
  return response.result['isError'] === true ? 'tool_error' : undefined
}

/**
 * Describes an error of a client that lacks a capability, which is no fault of the server. Undefined for other errors.
 */
function describeMissingCapability(error: WireError | undefined, { params }: RpcRequest): string | undefined {
  if (error?.code !== errorCodes.missingRequiredClientCapability || !isJsonObject(error.data)) return undefined
  const required = error.data['requiredCapabilities']
  const names = isJsonObject(required) ? capabilityNamesOf(required).join(', ') : 'a capability'
  const client = requestMetaOf(params)[metaKeys.clientInfo]?.name
  const lacks = `which its client${client === undefined ? '' : ` ${quoteText(client)}`} does not declare`
  return `needs ${names}, ${lacks} (-32021)`
}

interface CallOutcome {
  /** Undefined for a slow call that succeeded. */
  readonly code: string | undefined
  readonly durationMs: number
  readonly lacking: string | undefined
}

function createCallRecord(
  request: Pick<RpcRequest, 'id' | 'method' | 'params'> & { readonly call: Call; readonly name: string | undefined },
  { code, durationMs, lacking }: CallOutcome,
  observation: Observation,
): CallRecord {
  const { round, steps, handOffs, slowestStep, error } = observation
  const { id, method, name } = request
  const subject = name === undefined ? method : `${method} ${quoteText(name)}`
  const given = Object.entries({ ...logContextOf(request, name), slowestStep }).filter(
    ([, value]) => value !== undefined,
  )
  return {
    ...Object.fromEntries(given),
    method,
    requestId: id,
    level: code === undefined || code === 'tool_error' || lacking !== undefined ? 'warn' : 'error',
    message: `${subject} ${lacking ?? describeOutcome(code, durationMs, error)}`,
    code: code ?? 'slow',
    durationMs,
    round,
    steps,
    handOffs,
    ...(hasFrames(error) && lacking === undefined && { err: error }),
  }
}

function describeOutcome(code: string | undefined, durationMs: number, error: unknown): string {
  if (code === undefined) return `took ${Math.round(durationMs)} ms`
  return isToolError(error) ? `failed with ${code}: ${error.message}` : `failed with ${code}`
}

/** A tool throws a `ToolError` for the model to read, and the message says all of it, as for a missing capability. */
function hasFrames(error: unknown): boolean {
  return error !== undefined && !isToolError(error)
}
