import {
  type JsonObject,
  type ListKind,
  metaKeys,
  type RequestId,
  type RpcNotification,
  type SubscriptionFilter,
} from '@x/schema'

/** The notification of a changed topic, without the id of the stream. */
export interface ChangeNotice {
  readonly method: string
  readonly params?: JsonObject | undefined
}

/** The lists, each with the field of a filter that asks for its changes. */
export const listChangeKinds = [
  { kind: 'tools', filterKey: 'toolsListChanged' },
  { kind: 'prompts', filterKey: 'promptsListChanged' },
  { kind: 'resources', filterKey: 'resourcesListChanged' },
] as const satisfies readonly { readonly kind: ListKind; readonly filterKey: keyof SubscriptionFilter }[]

const resourceTopicPrefix = 'resource:'

/** The topic of changes to what a resource holds. */
export function resourceTopic(uri: string): string {
  return `${resourceTopicPrefix}${uri}`
}

/**
 * The keys of what a filter asks for: a resource's own URI, or the method that notifies of a list. A URI has a colon
 * and a method has none. The URIs are the filter's own strings, since a copy of each would be most of what a stream
 * takes.
 */
export function topicKeysOf(filter: SubscriptionFilter): readonly string[] {
  const listTopicKeys: string[] = listChangeKinds
    .filter(({ filterKey }) => filter[filterKey] === true)
    .map(({ kind }) => listChangedMethodOf(kind))
  return listTopicKeys.concat(filter.resourceSubscriptions ?? [])
}

/** The key of a topic of the bus. */
export function toTopicKey(topic: string): string {
  return topic.startsWith(resourceTopicPrefix) ? topic.slice(resourceTopicPrefix.length) : listChangedMethodOf(topic)
}

/** The notification that is sent when the topic of a key changes. It is one of those that {@link topicKeysOf} gives. */
export function createChangeNotice(key: string): ChangeNotice {
  if (!key.includes(':')) return { method: key }
  return { method: 'notifications/resources/updated', params: { uri: key } }
}

function listChangedMethodOf(kind: string): string {
  return `notifications/${kind}/list_changed`
}

/** A notice for one stream: everything on it names the request that opened it (basic/patterns/subscriptions). */
export function addSubscriptionId({ method, params }: ChangeNotice, id: RequestId): RpcNotification {
  return { jsonrpc: '2.0', method, params: { ...params, _meta: { [metaKeys.subscriptionId]: id } } }
}
