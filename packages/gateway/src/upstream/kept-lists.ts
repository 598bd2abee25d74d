import type { Runtime } from '@x/core'
import { type Call, callerKeyOf, callHeadersKey, clientSessionKey } from '@x/exchange'
import { searchListKey } from '@x/exchange/internal'
import type { JsonObject, RpcRequest } from '@x/schema'
import { metaIn } from '@x/schema/internal'
import type { CallerCredential } from '../hop/hop-options.ts'

// limit: search of tools | ms | the age of a list of an upstream that a search reads | the list is read again
const maxKeptMs = 60_000
/** The oldest are dropped. */
// limit: search of tools | count | characters of kept lists of one upstream | the oldest list is dropped
const maxKeptCharacters = 16_000_000

/** Lists that searches have read, of each caller as far as the upstream can tell callers apart. */
export class KeptLists {
  // Bounded by `maxKeptCharacters`: the oldest is dropped.
  readonly #lists = new Map<
    string,
    { readonly result: JsonObject; readonly length: number; readonly expiresAt: number }
  >()
  readonly #runtime: Runtime
  #length = 0

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** Finds a page that was read for the same caller. Undefined for a request that does not come from a search. */
  find(request: RpcRequest, call: Call, credential: CallerCredential): JsonObject | undefined {
    if (call.context.get(searchListKey) !== true) return undefined
    const list = this.#lists.get(listKeyOf(request, call, credential)) ?? this.#lists.get(listKeyOf(request))
    return list !== undefined && list.expiresAt > this.#runtime.monotonicNow() ? list.result : undefined
  }

  /** Keeps a page. One that is the same for everybody is kept once. */
  add(
    result: JsonObject,
    { request, call, credential }: { request: RpcRequest; call: Call; credential: CallerCredential },
  ): void {
    const { ttlMs, cacheScope } = result
    if (call.context.get(searchListKey) !== true || typeof ttlMs !== 'number' || ttlMs <= 0) return
    const isShared = cacheScope === 'public' && credential.id === ''
    const key = isShared ? listKeyOf(request) : listKeyOf(request, call, credential)
    const expiresAt = this.#runtime.monotonicNow() + Math.min(ttlMs, maxKeptMs)
    this.#drop(key)
    this.#lists.set(key, { result, length: JSON.stringify(result).length, expiresAt })
    this.#length += this.#lists.get(key)?.length ?? 0
    for (const oldest of this.#lists.keys()) if (this.#length > maxKeptCharacters) this.#drop(oldest)
  }

  #drop(key: string): void {
    this.#length -= this.#lists.get(key)?.length ?? 0
    this.#lists.delete(key)
  }
}

const ownMembers = new Set(['progressToken', 'traceparent', 'tracestate', 'baggage'])

function listKeyOf(request: RpcRequest, call?: Call, credential?: CallerCredential): string {
  const meta = Object.entries(metaIn(request.params)).filter(([name]) => !ownMembers.has(name))
  const page = [request.method, request.params?.['cursor'], meta]
  if (call === undefined) return JSON.stringify(page)
  const { context } = call
  const session = [context.get(clientSessionKey), context.get(callHeadersKey)?.get('Mcp-Session-Id')]
  return JSON.stringify([...page, callerKeyOf(call), session, credential?.id])
}
