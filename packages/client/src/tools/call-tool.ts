import {
  type CallToolResult,
  errorCodes,
  type JsonObject,
  mirrorArguments,
  type MirroredHeaders,
  type MirroredParam,
} from '@x/schema'
import type { OutputCheck } from './check-output.ts'
import { type CallPlace, ClientError, isClientError } from '../client-error.ts'
import type { CallOptions, ReadOptions } from '../call-options.ts'
import type { ClientRequest, SendRequest } from '../request/request.ts'
import type { KnownTool, ToolIndex } from './tool-index.ts'

/** What calling tools needs of its client. */
export interface CallToolContext {
  readonly send: SendRequest
  readonly tools: ToolIndex
  /** Reads the whole list, so that the index knows it. */
  readonly list: (options: ReadOptions) => Promise<unknown>
  /** The check of a tool's output; `undefined` when nothing is to be checked. */
  readonly checkOf: ((known: KnownTool, place: CallPlace) => OutputCheck | undefined) | undefined
  readonly placeOf: (request: ClientRequest<'tools/call'>) => CallPlace
}

/** Calls a tool by name. A result with `isError` is a result: the model reads it (server/tools, error handling). */
export type CallTool = (name: string, args?: JsonObject, options?: CallOptions) => Promise<CallToolResult>

// Names come from models, who make some up.
const maxLookUps = 1000

/**
 * Calls tools: the arguments that a known tool wants in headers are mirrored, and when the server finds them wrong, its list
 * is read again and the call repeated, once (basic/transports/streamable-http, client behavior). Nothing ran before that.
 */
export function createCallTool(context: CallToolContext): CallTool {
  const { send, tools, list, checkOf } = context
  const lookedUp = new Set<string>()
  const lookUp = async (name: string, options: CallOptions): Promise<void> => {
    if (tools.find(name) || lookedUp.has(name) || lookedUp.size >= maxLookUps) return
    lookedUp.add(name)
    await list(listing(options))
  }
  return async (name, args = {}, options = {}) => {
    // A tool without an output schema needs no check, which only its definition can tell.
    if (checkOf) await lookUp(name, options)
    const request = (): ClientRequest<'tools/call'> => {
      const call = { method: 'tools/call', params: { name, arguments: args } } as const
      const wanted = tools.find(name)?.mirrored
      return wanted?.length ? { ...call, mirrored: mirror(wanted, args, () => context.placeOf(call)) } : call
    }
    const call = request()
    const check = checkNow(context, call, name)
    const result = await send(call, options).catch(async (error: unknown) => {
      if (!isClientError(error) || error.rpc?.code !== errorCodes.headerMismatch) throw error
      await list({ ...listing(options), refresh: true })
      return send(request(), options)
    })
    check?.(result, context.placeOf(call))
    return result
  }
}

// The reason is found here: it must not pass for an error of the server's.
function mirror(wanted: readonly MirroredParam[], args: JsonObject, place: () => CallPlace): MirroredHeaders {
  try {
    return mirrorArguments(wanted, args)
  } catch (error) {
    throw new ClientError('invalid_arguments', error instanceof Error ? error.message : String(error), place())
  }
}

function checkNow(
  { tools, checkOf, placeOf }: CallToolContext,
  call: ClientRequest<'tools/call'>,
  name: string,
): OutputCheck | undefined {
  const known = tools.find(name)
  return known && checkOf?.(known, placeOf(call))
}

// The list is no part of the call: its progress and logs are of no interest to who called.
function listing({ signal, timeoutMs, maxTotalMs, meta }: CallOptions): ReadOptions {
  return { signal, timeoutMs, maxTotalMs, meta }
}
