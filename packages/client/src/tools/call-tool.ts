import {
  type CallToolResult,
  errorCodes,
  isJsonObject,
  type JsonObject,
  mirrorArguments,
  type MirroredHeaders,
  type MirroredParam,
} from '@x/schema'
import type { OutputCheck } from './check-output.ts'
import { type CallPlace, ClientError, isClientError } from '../client-error.ts'
import type { CallOptions, ReadOptions } from '../call-options.ts'
import type { ClientRequest, SendOnce } from '../request/request.ts'
import type { RoundTrip } from '../rounds/round-trip.ts'
import type { KnownTool, ToolIndex } from './tool-index.ts'

/** What calling tools needs of its client. */
export interface ToolTripsContext {
  readonly once: SendOnce
  readonly tools: ToolIndex
  /** Reads the whole list, so that the index knows it. */
  readonly list: (options: ReadOptions) => Promise<unknown>
  /** The check of a tool's output; `undefined` when nothing is to be checked. */
  readonly checkOf: ((known: KnownTool, place: CallPlace) => OutputCheck | undefined) | undefined
  readonly placeOf: (request: ClientRequest<'tools/call'>) => CallPlace
}

/** Calls a tool by name. A result with `isError` is a result: the model reads it (server/tools, error handling). */
export type CallTool = (name: string, args?: JsonObject, options?: CallOptions) => Promise<CallToolResult>

/** How calls of tools go out. */
export interface ToolTrips {
  /** Looks a tool up that was never listed, where its definition decides something. */
  prepare(name: string, options: CallOptions): Promise<unknown> | undefined
  /** The call of a tool, from the params `name` and `arguments`. */
  trip(params: JsonObject, options: CallOptions): RoundTrip<'tools/call'>
}

// Names come from models, who make some up.
const maxLookUps = 1000

/**
 * Calls tools: the arguments that a known tool wants in headers are mirrored, and when the server finds them wrong, its list
 * is read again and the request repeated, once (basic/transports/streamable-http, client behavior). The server looks at
 * headers before it runs anything, in every round.
 */
export function createToolTrips(context: ToolTripsContext): ToolTrips {
  const { once, tools, list, checkOf } = context
  const lookedUp = new Set<string>()
  return {
    prepare: (name, options) => {
      // A tool without an output schema needs no check, which only its definition can tell.
      if (!checkOf || tools.find(name) || lookedUp.has(name) || lookedUp.size >= maxLookUps) return undefined
      lookedUp.add(name)
      return list(listing(options))
    },
    trip: (params, how) => {
      const name = String(params.name)
      const requestOf = (withInput: JsonObject): ClientRequest<'tools/call'> => mirrored(context, name, withInput)
      const check = checkNow(context, { method: 'tools/call', params }, name)
      return {
        method: 'tools/call',
        params,
        how,
        attempt: (withInput, options) =>
          once(requestOf(withInput), options).catch(async (error: unknown) => {
            if (!isClientError(error) || error.rpc?.code !== errorCodes.headerMismatch) throw error
            await list({ ...listing(options), refresh: true })
            return once(requestOf(withInput), options)
          }),
        isRepeatable: () => isRepeatable(tools.find(name)),
        check,
      }
    },
  }
}

function isRepeatable(known: KnownTool | undefined): boolean {
  const { readOnlyHint, idempotentHint } = known?.tool.annotations ?? {}
  return readOnlyHint === true || idempotentHint === true
}

function mirrored({ tools, placeOf }: ToolTripsContext, name: string, params: JsonObject): ClientRequest<'tools/call'> {
  const call = { method: 'tools/call', params } as const
  const wanted = tools.find(name)?.mirrored
  if (!wanted?.length) return call
  const args = isJsonObject(params.arguments) ? params.arguments : {}
  return { ...call, mirrored: mirror(wanted, args, () => placeOf(call)) }
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
  { tools, checkOf, placeOf }: ToolTripsContext,
  call: ClientRequest<'tools/call'>,
  name: string,
): ((result: CallToolResult) => void) | undefined {
  const known = tools.find(name)
  const check = known && checkOf?.(known, placeOf(call))
  return check && ((result) => check(result, placeOf(call)))
}

// The list is no part of the call: its progress and logs are of no interest to who called.
function listing({ signal, timeoutMs, maxTotalMs, meta }: CallOptions): ReadOptions {
  return { signal, timeoutMs, maxTotalMs, meta }
}
