import { type Exchange, isJsonObject, type JsonObject, type RpcResponse } from '@x/schema'

/** The `_meta` key under which a result says which instance gave it. */
const instanceKey = 'dev.x/instance'

/** An instance of the server. */
export interface Instance {
  readonly id: number
  /** Its process. */
  readonly pid: number
}

/** The exchange, with the instance's name in the `_meta` of every result. */
export function signResults(exchange: Exchange, instance: Instance): Exchange {
  const signature = { [instanceKey]: { ...instance } }
  return async (request, call) => {
    const response = await exchange(request, call)
    if (!('result' in response)) return response
    const { result } = response
    const meta: JsonObject = isJsonObject(result['_meta']) ? result['_meta'] : {}
    return { ...response, result: { ...result, _meta: { ...meta, ...signature } } }
  }
}

/** Which instance gave a response, when it says so. */
export function readInstance(response: RpcResponse): Instance | undefined {
  if (!('result' in response)) return undefined
  const meta = response.result['_meta']
  return isJsonObject(meta) ? instanceIn(meta) : undefined
}

/** Which instance a result's `_meta` names. */
export function instanceIn(meta: JsonObject): Instance | undefined {
  const instance = meta[instanceKey]
  if (!isJsonObject(instance)) return undefined
  const { id, pid } = instance
  return typeof id === 'number' && typeof pid === 'number' ? { id, pid } : undefined
}
