import { isJsonObject, type RequestId, type RpcNotification } from '@x/schema'

const cancelledMethod = 'notifications/cancelled'

/** Creates the notification that cancels a call (basic/patterns/cancellation). */
export function cancelledNotification(requestId: RequestId, reason?: string): RpcNotification {
  return {
    jsonrpc: '2.0',
    method: cancelledMethod,
    params: reason === undefined ? { requestId } : { requestId, reason },
  }
}

/**
 * Parses a cancellation; returns `undefined` for every other notification, and for a malformed one, which is to be
 * ignored.
 */
export function readCancellation(
  message: RpcNotification,
): { readonly requestId: RequestId; readonly reason: string | undefined } | undefined {
  if (message.method !== cancelledMethod || !isJsonObject(message.params)) return undefined
  const { requestId, reason } = message.params
  if (typeof requestId !== 'string' && typeof requestId !== 'number') return undefined
  return { requestId, reason: typeof reason === 'string' ? reason : undefined }
}
