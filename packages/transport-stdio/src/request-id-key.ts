import { isJsonObject, metaKeys, type RequestId, type RpcNotification } from '@x/schema'

/**
 * The `_meta` key with which a server of this package names the request that a notification belongs to. Progress has a
 * token and a subscription an id; a log message has neither, and on stdio all requests share one stream.
 */
export const requestIdKey = 'x.transport-stdio/requestId'

/** Adds the request id to a notification that has none. */
export function withRequestId(message: RpcNotification, id: RequestId): RpcNotification {
  const { params = {} } = message
  const { _meta } = params
  const meta = isJsonObject(_meta) ? _meta : {}
  if (params['progressToken'] !== undefined || meta[metaKeys.subscriptionId] !== undefined) return message
  return { ...message, params: { ...params, _meta: { ...meta, [requestIdKey]: id } } }
}
