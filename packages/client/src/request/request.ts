import {
  encodeHeaderValue,
  type Exchange,
  type Implementation,
  type JsonObject,
  metaKeys,
  methodRow,
  type MirroredHeaders,
  platformClock,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { type CallPlace, ClientError } from '../client-error.ts'
import type { ClientMethod, CompleteResults } from './complete-results.ts'
import type { CallOptions } from '../call-options.ts'
import { type ClientOptions, clientInfoOf } from '../options.ts'
import { type Asked, isAsked } from '../rounds/asked.ts'
import { declaredBy, hasHandlers } from '../rounds/input-handlers.ts'
import { beginAgain, type BeginRules } from './begin-again.ts'
import { runCall } from './run-call.ts'
import { peerError, serverInfoOf, settleResult } from './settle-result.ts'
import { createVersionChoice, supportedVersions, type VersionChoice } from './versions.ts'

/** How long a call waits for its response or the next progress where nothing else is said, in milliseconds. */
export const defaultTimeoutMs = 60_000

/** One call, before it has an id and its `_meta`. */
export interface ClientRequest<M extends string> {
  readonly method: M
  readonly params: JsonObject
  readonly mirrored?: MirroredHeaders | undefined
  /** The field of the params that names what the call is about, where the method is an extension's. */
  readonly named?: string | undefined
  /** Takes the notifications of a response that lasts, with the id of its request; true once it is open. */
  readonly hear?: ((message: RpcNotification, id: RequestId) => boolean) | undefined
}

/** Sends one request of any method and gives its response; rejects as {@link SendOnce} does, but for an error of the peer's. */
export type Respond = (request: ClientRequest<string>, options: CallOptions) => Promise<RpcResponse>

/** Sends one request and gives what came of it; rejects with {@link ClientError}, or `signal.reason` when cancelled. */
export type SendOnce = <M extends ClientMethod>(
  request: ClientRequest<M>,
  options: CallOptions & { readonly refresh?: boolean | undefined },
) => Promise<CompleteResults[M] | Asked>

/** Sends one call of a method that asks for no input, and gives its complete result. */
export type SendRequest = <M extends ClientMethod>(
  request: ClientRequest<M>,
  options: CallOptions & { readonly refresh?: boolean | undefined },
) => Promise<CompleteResults[M]>

/** What the calls of one client leave behind, for people to read: no request relies on it. */
export interface Seen {
  readonly versions: VersionChoice
  readonly url: string | undefined
  server: Pick<Implementation, 'name' | 'version'> | undefined
}

/** What a new client has seen. */
export function nothingSeen(options: ClientOptions, url: string | undefined): Seen {
  return { versions: createVersionChoice(options.versions), url, server: undefined }
}

/**
 * The way of one request: its `_meta`, its exchange, and once more in another revision where the server names one
 * (basic/versioning, protocol version negotiation).
 */
export function createRespond(exchange: Exchange, options: ClientOptions, seen: Seen): Respond {
  const metaOf = createMeta(options)
  const nextId = idsOf(exchange)

  const send = (call: ClientRequest<string>, how: CallOptions, place: Place): Promise<RpcResponse> => {
    const id = nextId()
    const _meta = metaOf(id, seen.versions.current(), { how, asks: methodRow(call.method)?.asks ?? false })
    const request: RpcRequest = { jsonrpc: '2.0', id, method: call.method, params: withMeta(call.params, _meta) }
    const timeoutMs = timeoutOf(options, how)
    const maxTotalMs = how.maxTotalMs ?? options.maxTotalMs ?? timeoutMs * 10
    const { clock = platformClock } = options
    const { mirrored, hear: hearAny } = call
    const repeated = repeatedBy(call, place)
    const hear = hearAny && ((message: RpcNotification): boolean => hearAny(message, id))
    return runCall(exchange, { request, mirrored, repeated, options: how, hear, timeoutMs, maxTotalMs, clock, place })
  }

  return async (call, how) => {
    const place = (): CallPlace => placeOf(call, seen)
    let response = await send(call, how, place)
    // A response that lasts is opened again by whoever reads it.
    if ('error' in response && call.hear === undefined)
      response = await beginAgain(response, () => send(call, how, place), beginRules(options, how))
    const supported = supportedVersions(response)
    if (supported) {
      if (!seen.versions.prefer(supported)) throw unsupported(response, supported, place())
      // Also where the server names the revision that it has just refused: another instance of it may have answered.
      response = await send(call, how, place)
    }
    seen.server = serverInfoOf(response) ?? seen.server
    return response
  }
}

function beginRules(options: ClientOptions, how: CallOptions): BeginRules {
  const { clock = platformClock } = options
  return { retries: how.retries ?? options.retries ?? 3, withinMs: timeoutOf(options, how), clock, signal: how.signal }
}

function timeoutOf(options: ClientOptions, how: CallOptions): number {
  return how.timeoutMs ?? options.timeoutMs ?? defaultTimeoutMs
}

/** The params with their `_meta`, which is nobody else's to write. V8 adds a property behind a spread ten times slower than before it. */
function withMeta(params: JsonObject, _meta: JsonObject): JsonObject {
  return '_meta' in params ? { ...params, _meta } : { _meta, ...params }
}

/** What `Mcp-Name` repeats where no row of the method says so, as the header has it. */
function repeatedBy({ params, named }: ClientRequest<string>, place: Place): string | undefined {
  const name = named === undefined ? undefined : params[named]
  if (typeof name !== 'string') return undefined
  try {
    return encodeHeaderValue(name)
  } catch (error) {
    throw new ClientError('invalid_arguments', error instanceof Error ? error.message : String(error), place())
  }
}

/** The calls of the methods that this client knows: their results are checked. */
export function createRequest(respond: Respond, seen: Seen): SendOnce {
  return async (call, how) => settleResult(call.method, await respond(call, how), () => placeOf(call, seen))
}

/** The calls of all other methods: their results are given as they came. */
export function createExtensionRequest(respond: Respond, seen: Seen): ExtensionRequest {
  return async (method, params = {}, how = {}) => {
    const call = { method, params, named: how.named, hear: how.onNotification }
    const response = await respond(call, how)
    if ('error' in response) throw peerError(response, placeOf(call, seen))
    return response.result
  }
}

/** What a call of an extension's method takes besides. */
export interface ExtensionCallOptions extends CallOptions {
  /**
   * The field of the params that names what the call is about: errors name it, and over HTTP `Mcp-Name` repeats it
   * (basic/transports/streamable-http).
   */
  readonly named?: string | undefined
  /**
   * Takes the notifications of a response that lasts, with the id of its request. From when it has given true, no limit of time
   * holds. Progress and logs are then not told. What it throws fails the call.
   */
  readonly onNotification?: ((message: RpcNotification, id: RequestId) => boolean) | undefined
}

/** Calls a method of an extension. */
export type ExtensionRequest = (
  method: string,
  params?: JsonObject,
  options?: ExtensionCallOptions,
) => Promise<JsonObject>

/** The calls whose results are always complete, because their methods must not ask (basic/patterns/mrtr). */
export function alwaysComplete(once: SendOnce, seen: Seen): SendRequest {
  return async (call, how) => {
    const settled = await once(call, how)
    if (!isAsked(settled)) return settled
    throw new ClientError('input_required', 'this call cannot be asked for input', placeOf(call, seen))
  }
}

type Place = () => CallPlace

/** Where a call goes, for its errors. */
export function placeOf(
  { method, params, named }: Pick<ClientRequest<string>, 'method' | 'params' | 'named'>,
  seen: Seen,
): CallPlace {
  const target = params[methodRow(method)?.named ?? named ?? '']
  const parts = [seen.server && `${seen.server.name} ${seen.server.version}`, seen.url && `(${seen.url})`]
  const server = parts.filter(Boolean).join(' ') || undefined
  return { method, target: typeof target === 'string' ? target : undefined, server }
}

function unsupported(response: RpcResponse, supported: readonly unknown[], place: CallPlace): ClientError {
  const rpc = 'error' in response ? response.error : undefined
  const theirs = JSON.stringify(supported).slice(0, 200)
  const why = `the server speaks none of this client's revisions of the protocol; it names ${theirs}`
  return new ClientError('unsupported_version', why, { ...place, rpc })
}

// Two clients of one exchange may share a pipe, on which their open requests must not have the same id.
const lastIds = new WeakMap<Exchange, { last: number }>()

function idsOf(exchange: Exchange): () => number {
  const ids = lastIds.get(exchange) ?? { last: 0 }
  lastIds.set(exchange, ids)
  return () => {
    ids.last += 1
    return ids.last
  }
}

type MetaOf = (id: number, version: string, call: { readonly how: CallOptions; readonly asks: boolean }) => JsonObject

function createMeta(options: ClientOptions): MetaOf {
  const said: JsonObject = {
    [metaKeys.clientCapabilities]: declaredBy(options, {}),
    ...(options.sendClientInfo !== false && { [metaKeys.clientInfo]: clientInfoOf(options) }),
  }
  return (id, version, { how, asks }) => {
    const logLevel = how.logLevel ?? (how.onLog ? 'info' : undefined)
    return {
      ...how.meta,
      [metaKeys.protocolVersion]: version,
      ...said,
      ...((how.capabilities ?? hasHandlers(how)) && { [metaKeys.clientCapabilities]: declaredBy(options, how) }),
      ...(logLevel !== undefined && { [metaKeys.logLevel]: logLevel }),
      // Also without a listener: progress gives a long call more time. Methods that run no code of authors report none.
      ...((asks || how.onProgress) && { [metaKeys.progressToken]: id }),
    }
  }
}
