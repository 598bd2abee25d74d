import type { Exchange } from '../basic/exchange.ts'
import { isJsonObject, type JsonObject } from '../basic/json.ts'
import type { RpcResponse } from '../basic/rpc.ts'
import { wrapExchange } from '../basic/wrap-exchange.ts'
import { prepared } from '../messages/encode-message.ts'
import type { Method } from '../methods/methods.ts'

/**
 * Adds to the capabilities that a server declares (server/discover), for an exchange that has more to offer than the server
 * inside. Members of a capability that both have, such as `extensions`, are put together; where both say the same thing, `capabilities` goes first.
 */
export function withCapabilities<E extends Exchange>(exchange: E, capabilities: JsonObject): E {
  // A server answers with the same object as long as its definitions are the same.
  const declared = new WeakMap<JsonObject, JsonObject>()

  async function discover(pending: Promise<RpcResponse>): Promise<RpcResponse> {
    const response = await pending
    if ('error' in response) return response
    const { result } = response
    const known =
      declared.get(result) ?? prepared({ ...result, capabilities: joined(result.capabilities, capabilities) })
    declared.set(result, known)
    return { ...response, result: known }
  }
  return wrapExchange(exchange, (request, call) => {
    const pending = exchange(request, call)
    return request.method === discovering ? discover(pending) : pending
  })
}

const discovering: Method = 'server/discover'

function joined(inner: unknown, outer: JsonObject): JsonObject {
  if (!isJsonObject(inner)) return outer
  const both = Object.entries(outer).map(([name, value]) => {
    const known = Object.hasOwn(inner, name) ? inner[name] : undefined
    return [name, isJsonObject(known) && isJsonObject(value) ? { ...known, ...value } : value]
  })
  return { ...inner, ...Object.fromEntries(both) }
}
