import { type JsonObject, metaKeys, type RequestId, type RpcNotification, type SubscriptionFilter } from '@x/schema'

/** A list that clients keep; the topic of its changes has the same name. */
export type ListKind = 'tools' | 'prompts' | 'resources'

/** What goes out when a topic changes, without what names the stream that it goes to. */
export interface Notice {
  readonly method: string
  readonly params?: JsonObject | undefined
}

/** The lists, each with the field of a filter that asks for its changes. */
export const lists = [
  { kind: 'tools', asked: 'toolsListChanged' },
  { kind: 'prompts', asked: 'promptsListChanged' },
  { kind: 'resources', asked: 'resourcesListChanged' },
] as const satisfies readonly { readonly kind: ListKind; readonly asked: keyof SubscriptionFilter }[]

const resourcePrefix = 'resource:'

/** The topic of changes to what a resource holds. */
export function resourceTopic(uri: string): string {
  return `${resourcePrefix}${uri}`
}

/** The topics that a filter asks for. */
export function topicsOf(filter: SubscriptionFilter): readonly string[] {
  const wanted: string[] = lists.filter(({ asked }) => filter[asked] === true).map(({ kind }) => kind)
  return wanted.concat((filter.resourceSubscriptions ?? []).map(resourceTopic))
}

/** What is sent when a topic changes; a topic is one of those that {@link topicsOf} gives. */
export function noticeOf(topic: string): Notice {
  if (!topic.startsWith(resourcePrefix)) return { method: `notifications/${topic}/list_changed` }
  return { method: 'notifications/resources/updated', params: { uri: topic.slice(resourcePrefix.length) } }
}

/** A notice for one stream: everything on it names the request that opened it (basic/patterns/subscriptions). */
export function addressed({ method, params }: Notice, id: RequestId): RpcNotification {
  return { jsonrpc: '2.0', method, params: { ...params, _meta: { [metaKeys.subscriptionId]: id } } }
}
