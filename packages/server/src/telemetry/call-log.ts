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
  type RpcResult,
} from '@x/schema'
import { capabilityNamesOf } from '@x/schema/internal'
import { isCallerError } from '@x/exchange/internal'
import { invalidArgumentsText, isToolError } from '../definitions/tool.ts'
import { logContextOf } from '../request/report.ts'

/** One call that failed or was slow, with the members of every log record of the server. */
export interface CallRecord extends LogRecord {
  readonly level: 'warn' | 'error'
  /**
   * Code of the error that the caller received, `tool_error` for a result with `isError`, `rejected` if there was no
   * response, or `slow`. A task's run is never `slow`, because no caller waits for it.
   */
  readonly code: string
  readonly method: string
  readonly requestId: string | number
  /** The duration of this request, in milliseconds. */
  readonly durationMs: number
  /** Rounds in which the client was asked before. */
  readonly round: number
  /** Steps whose work this request has done. */
  readonly steps: number
  readonly handOffs: number
  readonly slowestStep?: { readonly key: string; readonly ms: number } | undefined
}

export interface CallLogOptions {
  /** Receives the records. A function for the option `log` of `createServer` fits. */
  readonly log: (record: CallRecord) => void
  /** Milliseconds after which a request is slow. Default: 10,000. */
  readonly slowMs?: number | undefined
}

/** Longer than most calls of tools, and shorter than most clients' time limit. */
const defaultSlowMs = 10_000

/**
 * Writes one record for each request that failed or was slow. There is none for a stream, for a request that is
 * rejected because of its caller (-32700, -32600, -32601, -32602, -32020, -32022), or for an error that the server has
 * logged already; there is one for a missing capability (-32021) and for a result with `isError`, even if the arguments
 * were invalid. Records identify their request as the
 * server's other ones do, so both can be joined by `requestId`, `taskId` or `traceId`. They contain no argument,
 * answer, result, state or token, except for what an author put into a thrown `err`.
 *
 * @example
 * callLog({ log: ({ level, message, ...record }) => logger[level](record, message) }) // pino
 */
export function callLog(options: CallLogOptions): ServerExtension<'callLog'> {
  checkArgument(options, { where: 'callLog', takes: 'an object with log, a function for the records', needs: ['log'] })
  const { log, slowMs = defaultSlowMs } = options
  return { extends: 'server', name: 'callLog', start: (host) => startCallLog(host, { log, slowMs }) }
}

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
  // Errors that the server has logged with their stacks.
  const loggedErrors = new WeakSet<object>()
  const { runtime } = host
  const recordCall = async (next: Exchange, request: RpcRequest, call: Call): Promise<RpcResponse> => {
    const startedAt = runtime.monotonicNow()
    const isTaskRun = call.context.get(taskAttemptKey) !== undefined
    const observation: Observation = { round: 0, steps: 0, handOffs: 0, slowestStep: undefined, error: undefined }
    const writeRecord = (code: string | undefined, response?: RpcResponse): void => {
      const durationMs = runtime.monotonicNow() - startedAt
      if (code === undefined && (durationMs < slowMs || isTaskRun)) return
      if (isObject(observation.error) && loggedErrors.has(observation.error)) return
      const described = { ...request, call, name: nameOf(request, host, code) }
      const mistake = response && describeMistake(response, request)
      const record = createCallRecord(described, { code, durationMs, mistake }, observation)
      // By now the request has its response, whether or not its record could be written.
      callListener(log, record, (error) => host.log(errorRecord(error, { method: 'callLog' })))
    }
    try {
      const response = await next(request, withContext(call, observationKey, observation))
      writeRecord(failureCodeOf(response), response)
      return response
    } catch (error) {
      // An error that a call throws after its caller, or the stop of its instance, has ended it is no failure.
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

/** As long as names of tools may be (server/tools, tool names). */
const maxNameLength = 128

/**
 * A gateway knows no names of tools and prompts in advance, so there it is the one that the caller wrote, for a call that
 * failed and not because of its caller.
 */
function nameOf(request: RpcRequest, host: ExtensionHost, code: string | undefined): string | undefined {
  const offered = host.offers(request)
  if (code === undefined || offered === undefined || offered.name !== undefined) return offered?.name
  const param = findMethodRow(request.method)?.targetParam
  const name = param === 'name' ? request.params?.[param] : undefined
  return typeof name === 'string' ? name.slice(0, maxNameLength) : undefined
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

function failureCodeOf(response: RpcResponse): string | undefined {
  if (!('error' in response)) return response.result['isError'] === true ? 'tool_error' : undefined
  const { code } = response.error
  // A user of such a client waits for a question in vain, which an operator may want to know.
  const isLogged = code === errorCodes.missingRequiredClientCapability || !isCallerError(code)
  return isLogged ? String(code) : undefined
}

/** Describes a mistake of the caller, which is no fault of the server. Undefined for other failures. */
function describeMistake(response: RpcResponse, { params }: RpcRequest): string | undefined {
  if (!('error' in response)) return hasInvalidArguments(response.result) ? 'got invalid arguments' : undefined
  const { code, data } = response.error
  if (code !== errorCodes.missingRequiredClientCapability || !isJsonObject(data)) return undefined
  const required = data['requiredCapabilities']
  const names = isJsonObject(required) ? capabilityNamesOf(required).join(', ') : 'a capability'
  const client = requestMetaOf(params)[metaKeys.clientInfo]?.name
  const lacks = `which its client${client === undefined ? '' : ` ${quoteText(client)}`} does not declare`
  return `needs ${names}, ${lacks} (-32021)`
}

/** Which arguments they were is for the model to read, and may quote them. */
function hasInvalidArguments({ isError, content }: RpcResult['result']): boolean {
  const [block]: unknown[] = isError === true && Array.isArray(content) ? content : []
  return isJsonObject(block) && String(block['text']).startsWith(invalidArgumentsText)
}

function createCallRecord(
  request: Pick<RpcRequest, 'id' | 'method' | 'params'> & { readonly call: Call; readonly name: string | undefined },
  {
    code,
    durationMs,
    mistake,
  }: { readonly code: string | undefined; readonly durationMs: number; readonly mistake: string | undefined },
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
    level: code === undefined || code === 'tool_error' || mistake !== undefined ? 'warn' : 'error',
    message: `${subject} ${mistake ?? describeOutcome(code, durationMs, error)}`,
    code: code ?? 'slow',
    durationMs,
    round,
    steps,
    handOffs,
    // A tool throws a `ToolError` for the model to read, and its message says everything, as for a caller's mistake.
    ...(error !== undefined && !isToolError(error) && mistake === undefined && { err: error }),
  }
}

function describeOutcome(code: string | undefined, durationMs: number, error: unknown): string {
  if (code === undefined) return `took ${Math.round(durationMs)} ms`
  return isToolError(error) ? `failed with ${code}: ${error.message}` : `failed with ${code}`
}
