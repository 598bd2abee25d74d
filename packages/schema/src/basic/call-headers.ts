import type { Call } from './exchange.ts'

/**
 * The same call with one more `Mcp-*` header beside its request, for an exchange around a client's side that repeats something
 * there. Transports without headers have no use for it.
 */
export function withHeader(call: Call, name: string, value: string): Call {
  return {
    ...call,
    headers: () => {
      const headers = new Map<string, string>()
      call.headers?.().forEach((known, other) => headers.set(other, known))
      return headers.set(name, value)
    },
  }
}
