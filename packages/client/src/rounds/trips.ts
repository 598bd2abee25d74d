import type { JsonObject } from '@x/schema'
import type { AskingMethod } from './asked.ts'
import type { ReadOptions } from '../call-options.ts'
import type { SendOnce } from '../request/request.ts'
import type { RoundTrip } from './round-trip.ts'
import type { ToolTrips } from '../tools/call-tool.ts'

/** Makes the round trip of a call, of whatever method. */
export type TripOf = <M extends AskingMethod>(method: M, params: JsonObject, how: ReadOptions) => Promise<RoundTrip<M>>

/** What a client's calls in which servers may ask for input are made of (basic/patterns/mrtr, supported requests). */
export interface Trips {
  readonly tool: ToolTrips
  readonly of: TripOf
  /** The call of a prompt or a resource, which reads and changes nothing. */
  readonly reading: <M extends AskingMethod>(method: M, params: JsonObject, how: ReadOptions) => RoundTrip<M>
}

/** Makes the round trips of a client's calls. */
export function createTrips(once: SendOnce, tool: ToolTrips): Trips {
  const reading: Trips['reading'] = (method, params, how) => ({
    method,
    params,
    how,
    attempt: (withInput, options) => once({ method, params: withInput }, options),
    isRepeatable: () => true,
  })
  const table: { readonly [M in AskingMethod]: (params: JsonObject, how: ReadOptions) => Promise<RoundTrip<M>> } = {
    'tools/call': async (params, how) => {
      await tool.prepare(String(params.name), how)
      return tool.trip(params, how)
    },
    'prompts/get': async (params, how) => reading('prompts/get', params, how),
    'resources/read': async (params, how) => reading('resources/read', params, how),
  }
  return { tool, reading, of: (method, params, how) => table[method](params, how) }
}
