import {
  errorRecord,
  isJsonObject,
  isUnavailable,
  type JsonObject,
  type JsonValue,
  limitOutages,
  type Log,
  type LogContext,
  type Runtime,
  sha256Hex,
} from '@x/core'
import { type Call, callerKeyOf, type Principal, unavailableError } from '@x/exchange'
import { errorCodes, findMethodRow, McpError, type RpcRequest } from '@x/schema'
import { invalidStateError, principalIdentityOf } from '@x/exchange/internal'
import { isStateError, type StateCodec } from '@x/state-codec'

const statePurpose = 'gateway/state'
const cursorPurpose = 'gateway/cursor'
const taskPurpose = 'gateway/task'

/** Ids of tasks are valid for as long as the codec allows. */
const longestTtlMs = Number.MAX_SAFE_INTEGER

/** An upstream's `requestState`, with its tag. */
export interface TaggedState {
  /** The gateway's own part. */
  readonly tag: {
    readonly upstream: string
    /** The instance whose process has the call, for a call of an older upstream. */
    readonly instance?: string | undefined
    /** The host's answers, on their way to the instance. */
    readonly answers?: JsonObject | undefined
    /** Requests that reached another instance than the call's. */
    readonly misses?: number | undefined
  }
  /** Made by the upstream. Undefined if it made none. */
  readonly state: string
}

/** An upstream's cursor. `cursor` is undefined for its first page. */
export interface UpstreamCursor {
  readonly upstream: string
  readonly cursor: string | undefined
}

/**
 * Seals what a gateway sends to hosts and receives again. Every value is bound to its caller, and is verified before it
 * is used. All failures have the same error, and the log has the reason.
 */
export class GatewayState {
  readonly #codec: StateCodec
  readonly #services: ReturnType<typeof limitOutages>

  constructor(codec: StateCodec, { log, runtime }: { readonly log: Log; readonly runtime: Runtime }) {
    this.#codec = codec
    this.#services = limitOutages(log, runtime)
  }

  /**
   * Puts a tag in front of an upstream's state: the length of the tag, the tag and the state. Sealing the state itself
   * again would make it a third longer each time, so the tag is bound to it instead.
   */
  async sealState({ tag, state }: TaggedState, request: RpcRequest, call: Call): Promise<string> {
    const { upstream, instance = null, answers = null, misses = 0 } = tag
    const value = instance === null ? [upstream] : [upstream, instance, answers, misses]
    const binding = await bindState(state, request, call)
    const claims = { purpose: statePurpose, binding, owner: callerKeyOf(call) }
    const token = await this.#seal(value, claims, logContextOf(request.method, call, request.id))
    return `${token.length}.${token}${state}`
  }

  /** Opens a state that {@link sealState} returned for the same request of the same caller. */
  async openState(sealed: unknown, request: RpcRequest, call: Call): Promise<TaggedState> {
    const [token, state] = splitState(sealed)
    const binding = await bindState(state, request, call)
    const claims = { purpose: statePurpose, binding, owner: callerKeyOf(call) }
    const value = await this.#open(token, claims, { context: logContextOf(request.method, call, request.id) })
    const [upstream, instance, answers, misses] = Array.isArray(value) ? value : []
    if (typeof upstream !== 'string') throw invalidStateError()
    const tag = {
      upstream,
      instance: typeof instance === 'string' ? instance : undefined,
      answers: isJsonObject(answers) ? answers : undefined,
      misses: typeof misses === 'number' ? misses : 0,
    }
    return { tag, state }
  }

  /** Makes a list's cursor for the caller. */
  sealCursor({ upstream, cursor }: UpstreamCursor, method: string, call: Call): Promise<string> {
    return this.#seal([upstream, cursor ?? null], cursorClaims(method, call), logContextOf(method, call))
  }

  async openCursor(sealed: string, method: string, call: Call): Promise<UpstreamCursor> {
    const claims = { ...cursorClaims(method, call), reusable: true }
    const context = logContextOf(method, call)
    const value = await this.#open(sealed, claims, { context, createError: invalidCursorError })
    const [upstream, cursor] = Array.isArray(value) ? value : []
    if (typeof upstream !== 'string') throw invalidCursorError()
    return { upstream, cursor: typeof cursor === 'string' ? cursor : undefined }
  }

  /** Makes the principal's id for a task of an upstream. It is valid for as long as the codec allows. */
  sealTaskId(upstream: string, taskId: string, call: Call): Promise<string> {
    const claims = { purpose: taskPurpose, binding: ownerOf(call), owner: callerKeyOf(call), ttlMs: longestTtlMs }
    return this.#seal([upstream, taskId], claims, logContextOf('tools/call', call))
  }

  async openTaskId(sealed: string, call: Call): Promise<{ readonly upstream: string; readonly taskId: string }> {
    const claims = { purpose: taskPurpose, binding: ownerOf(call), owner: callerKeyOf(call), reusable: true }
    const context = logContextOf('tasks/get', call)
    const value = await this.#open(sealed, claims, { context, createError: unknownUpstreamTaskError })
    const [upstream, taskId] = Array.isArray(value) ? value : []
    if (typeof upstream !== 'string' || typeof taskId !== 'string') throw unknownUpstreamTaskError()
    return { upstream, taskId }
  }

  /** Checks that the codec's store can be reached. */
  async ping(): Promise<void> {
    await this.#codec.ping?.()
  }

  async #seal(value: JsonValue, claims: Parameters<StateCodec['seal']>[1], context: LogContext): Promise<string> {
    try {
      const token = await this.#codec.seal(value, claims)
      this.#services.succeed('StateError')
      return token
    } catch (error) {
      if (!isUnavailable(error)) throw error
      this.#services.log(errorRecord(error, context))
      throw unavailableError({ begun: true, cause: error })
    }
  }

  async #open(
    token: string,
    claims: Parameters<StateCodec['open']>[1],
    {
      context,
      createError = invalidStateError,
    }: { readonly context: LogContext; readonly createError?: () => McpError },
  ): Promise<JsonValue> {
    try {
      const value = await this.#codec.open(token, claims)
      this.#services.succeed('StateError')
      return value
    } catch (error) {
      if (!isUnavailable(error) && !isStateError(error)) throw error
      this.#services.log(errorRecord(error, context))
      throw isUnavailable(error) ? unavailableError({ begun: false, cause: error }) : createError()
    }
  }
}

function logContextOf(method: string, { principal }: Call, requestId?: LogContext['requestId']): LogContext {
  return { method, requestId, principal: principal?.subject }
}

function cursorClaims(method: string, call: Call): Parameters<StateCodec['open']>[1] {
  return { purpose: cursorPurpose, binding: [method, ownerOf(call)], owner: callerKeyOf(call) }
}

const maxTokenLengthDigits = 5

function splitState(sealed: unknown): readonly [token: string, state: string] {
  const text = typeof sealed === 'string' ? sealed : ''
  const [prefix = '', digits = ''] = /^([1-9]\d*)\./.exec(text) ?? []
  const end = prefix.length + Number(digits)
  if (prefix === '' || digits.length > maxTokenLengthDigits || end > text.length) throw invalidStateError()
  return [text.slice(prefix.length, end), text.slice(end)]
}

/** A state is bound to its method, its target, its arguments and its caller, and to the state of the upstream. */
async function bindState(state: string, { method, params }: RpcRequest, call: Call): Promise<JsonValue> {
  const { targetParam = 'name' } = findMethodRow(method) ?? {}
  return [method, params?.[targetParam] ?? null, params?.['arguments'] ?? null, ownerOf(call), await sha256Hex(state)]
}

/**
 * A caller without a principal may send its next request from another address, so the address is not part of the
 * binding.
 */
function ownerOf({ principal }: { readonly principal?: Principal | undefined }): JsonValue {
  return principalIdentityOf(principal)
}

/** One error for every cursor that the gateway does not accept. */
export function invalidCursorError(): McpError {
  return new McpError(errorCodes.invalidParams, 'Invalid or expired cursor')
}

/** For an unknown task, and for one of another caller, which must look the same. */
function unknownUpstreamTaskError(): McpError {
  return new McpError(errorCodes.invalidParams, 'Unknown task')
}
