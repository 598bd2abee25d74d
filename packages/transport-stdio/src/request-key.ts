import { isJsonObject, metaKeys, type RequestId, type RpcNotification } from '@x/schema'

/**
 * The `_meta` key with which a server of this package names the request that a notification is about. Progress has a token
 * and a subscription an id; a log message has neither, and on stdio all requests share one stream.
 */
export const requestKey = 'x.transport-stdio/requestId'

/** A notification that names its request, if it did not before. */
export function nameRequest(message: RpcNotification, id: RequestId): RpcNotification {
  const { params = {} } = message
  const { _meta } = params
  const meta = isJsonObject(_meta) ? _meta : {}
  if (params['progressToken'] !== undefined || meta[metaKeys.subscriptionId] !== undefined) return message
  return { ...message, params: { ...params, _meta: { ...meta, [requestKey]: id } } }
}
