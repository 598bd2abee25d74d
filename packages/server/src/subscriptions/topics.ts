import type { ListKind } from '@x/exchange'
import { type JsonObject, metaKeys, type RequestId, type RpcNotification, type SubscriptionFilter } from '@x/schema'

/** The notification of a changed topic, without the id of the stream. */
export interface ChangeNotice {
  readonly method: string
  readonly params?: JsonObject | undefined
}

/** The lists of a server, each with the member of a filter that subscribes to its changes. */
export const listChangeKinds = [
  { kind: 'tools', filterKey: 'toolsListChanged' },
  { kind: 'prompts', filterKey: 'promptsListChanged' },
  { kind: 'resources', filterKey: 'resourcesListChanged' },
] as const satisfies readonly { readonly kind: ListKind; readonly filterKey: keyof SubscriptionFilter }[]

const resourceTopicPrefix = 'resource:'

/** Returns the topic for changes of the content of a resource. */
export function resourceTopic(uri: string): string {
  return `${resourceTopicPrefix}${uri}`
}

/**
 * Returns the keys of the topics in a filter: the URI of a resource, or the notification method of a list. A URI
 * contains a colon and a method does not. The URIs are the same strings as in the filter, because copies would take
 * most of the memory of a stream.
 */
export function topicKeysOf(filter: SubscriptionFilter): readonly string[] {
  const listTopicKeys: string[] = listChangeKinds
    .filter(({ filterKey }) => filter[filterKey] === true)
    .map(({ kind }) => listChangedMethodOf(kind))
  return listTopicKeys.concat(filter.resourceSubscriptions ?? [])
}

/** Returns the key of a topic of the bus. */
export function toTopicKey(topic: string): string {
  return topic.startsWith(resourceTopicPrefix) ? topic.slice(resourceTopicPrefix.length) : listChangedMethodOf(topic)
}

/** Returns the notification for a changed topic. {@link topicKeysOf} returns the keys of topics. */
export function createChangeNotice(key: string): ChangeNotice {
  if (!key.includes(':')) return { method: key }
  return { method: 'notifications/resources/updated', params: { uri: key } }
}

function listChangedMethodOf(kind: string): string {
  return `notifications/${kind}/list_changed`
}

/**
 * Creates the notification for one stream, with the id of the request that opened the stream
 * (basic/patterns/subscriptions).
 */
export function addSubscriptionId({ method, params }: ChangeNotice, id: RequestId): RpcNotification {
  return { jsonrpc: '2.0', method, params: { ...params, _meta: { [metaKeys.subscriptionId]: id } } }
}
