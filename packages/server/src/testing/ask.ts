import type { Log, LogRecord } from '@x/core'
import {
  type BackgroundRunner,
  backgroundKey,
  backPressureKey,
  type Call,
  type CallContext,
  type CallInit,
  canHandOffKey,
  clientAddressKey,
  createCall,
  headerParamsKey,
  journalKey,
  type JournalStore,
  type Server,
  withContext,
} from '@x/exchange'
import {
  errorCodes,
  type HeaderParams,
  isJsonObject,
  type JsonObject,
  type Method,
  metaKeys,
  methods,
  protocolVersion,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  type WireError,
} from '@x/schema'
import { resultValidators } from '@x/schema/zod'
import { expect } from 'vitest'

/** The parts of a request that a test may change. */
export interface AskOptions extends CallInit {
  readonly id?: string | number
  readonly headerParams?: HeaderParams | undefined
  readonly canHandOff?: boolean | undefined
  readonly clientAddress?: string | undefined
  readonly journal?: JournalStore | undefined
  readonly background?: BackgroundRunner | undefined
  readonly backPressure?: (() => Promise<void> | undefined) | undefined
  /** Members of `_meta` in addition to the required ones. Undefined removes a required member. */
  readonly meta?: JsonObject
}

/** A method and its params, or a tool and its arguments. */
export type RequestArguments = [name: string, params?: JsonObject | undefined, options?: AskOptions | undefined]

/** Has the required `_meta`. */
export function requestOf(...[method, params = {}, { id = 1, meta = {} } = {}]: RequestArguments): RpcRequest {
  const required = { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {} }
  const _meta = JSON.parse(JSON.stringify({ ...required, ...meta }))
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } }
}

/** A call that is not cancelled, and whose notifications are collected. */
export function callOf(options: AskOptions = {}): Call & { readonly messages: RpcNotification[] } {
  const messages: RpcNotification[] = []
  const notify = options.notify ?? ((message: RpcNotification) => void messages.push(message))
  return { ...createCall({ ...options, notify, context: contextOf(options) }), messages }
}

function contextOf({ headerParams, canHandOff, journal, background, ...options }: AskOptions): CallContext {
  const { backPressure, clientAddress, context } = options
  let call = createCall({ context })
  if (clientAddress !== undefined) call = withContext(call, clientAddressKey, clientAddress)
  if (headerParams !== undefined) call = withContext(call, headerParamsKey, headerParams)
  if (canHandOff !== undefined) call = withContext(call, canHandOffKey, canHandOff)
  if (journal !== undefined) call = withContext(call, journalKey, journal)
  if (background !== undefined) call = withContext(call, backgroundKey, background)
  if (backPressure !== undefined) call = withContext(call, backPressureKey, backPressure)
  return call.context
}

/** Sends a request, and checks the response against the published types. */
export async function sendRequest(
  server: Server,
  ...[method, params, options = {}]: RequestArguments
): Promise<RpcResponse> {
  const response = await server.exchange(requestOf(method, params, options), callOf(options))
  expect(response.id).toBe(options.id ?? 1)
  if ('result' in response && isMethod(method)) resultValidators[method].parse(response.result)
  return response
}

/** Throws if the request fails. */
export async function resultOf(server: Server, ...question: RequestArguments): Promise<JsonObject> {
  const [method] = question
  const response = await sendRequest(server, ...question)
  if (!('result' in response)) throw new Error(`${method} failed: ${JSON.stringify(response.error)}`)
  return response.result
}

/** Throws if the request succeeds. */
export async function errorOf(server: Server, ...question: RequestArguments): Promise<WireError> {
  const [method] = question
  const response = await sendRequest(server, ...question)
  if (!('error' in response)) throw new Error(`${method} succeeded: ${JSON.stringify(response.result)}`)
  return response.error
}

/** Throws if the call fails. */
export function callTool(server: Server, ...[name, args, options]: RequestArguments): Promise<JsonObject> {
  return resultOf(server, 'tools/call', args === undefined ? { name } : { name, arguments: args }, options)
}

/** Text of a result's only content. */
export function textOf(result: JsonObject): string {
  const content = result['content']
  const block = Array.isArray(content) ? content[0] : undefined
  return isJsonObject(block) && typeof block['text'] === 'string' ? block['text'] : ''
}

/** All pages of a list, by following its cursors. */
export async function pagesOf(server: Server, method: string, options?: AskOptions): Promise<JsonObject[]> {
  const pages: JsonObject[] = []
  let cursor: string | undefined
  do {
    const page = await resultOf(server, method, cursor === undefined ? {} : { cursor }, options)
    pages.push(page)
    cursor = typeof page['nextCursor'] === 'string' ? page['nextCursor'] : undefined
  } while (cursor !== undefined && pages.length < 1000)
  return pages
}

/** What a server logged, and the fields of its log record. */
export type ReportedError = { readonly error: unknown; readonly where: object }

/** Collects the errors and warnings that a server logs. */
export function createLogCollector(): {
  readonly reported: ReportedError[]
  readonly warnings: LogRecord[]
  readonly log: Log
} {
  const reported: ReportedError[] = []
  const warnings: LogRecord[] = []
  const log: Log = (record) => {
    const { level, err, method, name } = record
    if (level === 'warn') warnings.push(record)
    else reported.push({ error: err, where: { method, name } })
  }
  return { reported, warnings, log }
}

/** Most refusals have this code. */
export const { invalidParams } = errorCodes

function isMethod(name: string): name is Method {
  return Object.hasOwn(methods, name)
}
