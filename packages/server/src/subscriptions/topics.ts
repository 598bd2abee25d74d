import type { ListKind } from '@x/exchange'
import { metaKeys, type RequestId, type RpcNotification, type SubscriptionFilter } from '@x/schema'

/** Lists of a server, each with the member of a filter that subscribes to its changes. */
export const listChangeKinds = [
  { kind: 'tools', filterKey: 'toolsListChanged' },
  { kind: 'prompts', filterKey: 'promptsListChanged' },
  { kind: 'resources', filterKey: 'resourcesListChanged' },
] as const satisfies readonly { readonly kind: ListKind; readonly filterKey: keyof SubscriptionFilter }[]

const resourceTopicPrefix = 'resource:'

/** Topic for changes of a resource's content. */
export function resourceTopic(uri: string): string {
  return `${resourceTopicPrefix}${uri}`
}

const schemePattern = /^[A-Za-z][A-Za-z0-9+.-]*:/

/** Throws a TypeError for a topic that no client can subscribe to: a list of no such name, or a URI without a scheme. */
export function checkTopic(topic: string): void {
  if (topic.startsWith(resourceTopicPrefix)) {
    const uri = topic.slice(resourceTopicPrefix.length)
    if (schemePattern.test(uri)) return
    const example = 'a URI with a scheme, such as "file:///a.txt"'
    throw new TypeError(`notifyResourceUpdated takes ${example}, and was given ${JSON.stringify(uri)}`)
  }
  if (listChangeKinds.some(({ kind }) => kind === topic)) return
  const kinds = listChangeKinds.map(({ kind }) => JSON.stringify(kind)).join(', ')
  throw new TypeError(`notifyListChanged takes one of ${kinds}, and was given ${JSON.stringify(topic)}`)
}

/**
 * A filter's topics by key: a resource's URI, or a list's notification method. A URI contains a colon and a method does
 * not. The URIs are the same strings as in the filter, because copies would take most of a stream's memory.
 */
export function topicKeysOf(filter: SubscriptionFilter): readonly string[] {
  const listTopicKeys: string[] = listChangeKinds
    .filter(({ filterKey }) => filter[filterKey] === true)
    .map(({ kind }) => listChangedMethodOf(kind))
  return listTopicKeys.concat(filter.resourceSubscriptions ?? [])
}

export function toTopicKey(topic: string): string {
  return topic.startsWith(resourceTopicPrefix) ? topic.slice(resourceTopicPrefix.length) : listChangedMethodOf(topic)
}

/** The notification of a changed topic, still without the stream's id. `key` is one of {@link topicKeysOf}. */
export function createChangeNotice(key: string): Omit<RpcNotification, 'jsonrpc'> {
  if (!key.includes(':')) return { method: key }
  return { method: 'notifications/resources/updated', params: { uri: key } }
}

function listChangedMethodOf(kind: string): string {
  return `notifications/${kind}/list_changed`
}

/** Adds the id of the request that opened the stream (basic/patterns/subscriptions). */
export function addSubscriptionId(
  { method, params }: Omit<RpcNotification, 'jsonrpc'>,
  id: RequestId,
): RpcNotification {
  return { jsonrpc: '2.0', method, params: { ...params, _meta: { [metaKeys.subscriptionId]: id } } }
}
