import type { JsonObject, SubscriptionsListenRequestParams } from '@x/schema'
import type { RequestState } from '../replay/served-request.ts'
import { acceptedFilter } from './accepted-filter.ts'

/**
 * Streams the changes that a client asks for, as far as the server has them and the caller may know of them, until one side
 * ends it; then says that it ended in good order (basic/patterns/subscriptions, graceful closure).
 */
export function listen(
  { notifications }: SubscriptionsListenRequestParams,
  request: RequestState,
): Promise<JsonObject> {
  const { id, call, caller, catalog, settings } = request
  const { subscriptions } = settings
  const { maxUris } = subscriptions
  const filter = acceptedFilter(notifications, { catalog, caller: call, maxUris })
  return subscriptions.follow({ id, call, caller, filter, resultMeta: catalog.resultMeta })
}
