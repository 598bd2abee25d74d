import { callHeadersKey, withContext } from '../composition/call-context.ts'
import type { Call } from './exchange.ts'

/**
 * Returns the same call with one more `Mcp-*` header beside its request, for a middleware of a client that repeats something there.
 * Transports without headers have no use for it.
 */
export function withHeader(call: Call, name: string, value: string): Call {
  const headers = new Map<string, string>()
  call.context.get(callHeadersKey)?.forEach((known, other) => headers.set(other, known))
  return withContext(call, callHeadersKey, headers.set(name, value))
}
