import { isJsonObject, metaKeys, type RequestId, type RpcNotification } from '@x/schema'

/**
 * Names, in `_meta`, the request of a notification. A progress notification has a token and one of a subscription has
 * an id, but a log message has neither, and on stdio all requests share one stream.
 */
export const requestIdKey = 'x.transport-stdio/requestId'

/** Adds the id of its request, unless the notification names it already. */
export function withRequestId(message: RpcNotification, id: RequestId): RpcNotification {
  const { params = {} } = message
  const { _meta } = params
  const meta = isJsonObject(_meta) ? _meta : {}
  if (params['progressToken'] !== undefined || meta[metaKeys.subscriptionId] !== undefined) return message
  return { ...message, params: { ...params, _meta: { ...meta, [requestIdKey]: id } } }
}

const cancelledMethod = 'notifications/cancelled'

/** Cancels a call (basic/patterns/cancellation). */
export function createCancelledNotification(requestId: RequestId, reason?: string): RpcNotification {
  return {
    jsonrpc: '2.0',
    method: cancelledMethod,
    params: reason === undefined ? { requestId } : { requestId, reason },
  }
}

/** Undefined for any other notification, and for a malformed cancellation, which must be ignored. */
export function readCancellation(
  message: RpcNotification,
): { readonly requestId: RequestId; readonly reason: string | undefined } | undefined {
  if (message.method !== cancelledMethod || !isJsonObject(message.params)) return undefined
  const { requestId, reason } = message.params
  if (typeof requestId !== 'string' && typeof requestId !== 'number') return undefined
  return { requestId, reason: typeof reason === 'string' ? reason : undefined }
}
