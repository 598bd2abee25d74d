import { isJsonObject, type RequestId, type RpcNotification } from '@x/schema'
import { subscriptionIdOf } from '@x/schema/internal'
import {
  type ReportedChange,
  parseChangeNotification,
  acceptedChangesFrom,
  type WantedChanges,
} from '../caching/changes.ts'

/**
 * Reads one stream: its acknowledgement, and then changes. Messages with the id of another subscription, before the
 * acknowledgement or outside the accepted filter are ignored (basic/patterns/subscriptions). Feed each message to the
 * returned function; it returns true once the stream is open. `onOpened` is called once the server has acknowledged the
 * subscription.
 */
export function createSubscriptionReader(
  requestedChanges: WantedChanges,
  {
    onOpened,
    onChange,
  }: {
    readonly onOpened: (acceptedChanges: WantedChanges) => void
    readonly onChange: (change: ReportedChange) => void
  },
): (message: RpcNotification, id: RequestId) => boolean {
  let openStream: { readonly id: RequestId; readonly acceptedChanges: WantedChanges } | undefined
  return (message, id) => {
    if (subscriptionIdOf(message) !== id) return false
    if (openStream?.id === id) {
      const change = parseChangeNotification(message, openStream.acceptedChanges)
      if (change) onChange(change)
      return true
    }
    const acceptedChanges = parseAcceptedChanges(message, requestedChanges)
    if (acceptedChanges === undefined) return false
    openStream = { id, acceptedChanges }
    onOpened(acceptedChanges)
    return true
  }
}

function parseAcceptedChanges(
  { method, params }: RpcNotification,
  requestedChanges: WantedChanges,
): WantedChanges | undefined {
  if (method !== 'notifications/subscriptions/acknowledged') return undefined
  return isJsonObject(params?.notifications) ? acceptedChangesFrom(params.notifications, requestedChanges) : undefined
}
