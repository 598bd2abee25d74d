import { isJsonObject, type JsonObject, type RpcNotification, type SubscriptionFilter } from '@x/schema'
import type { ClientError } from '../request/client-error.ts'
import type { StaleKeyPredicate } from './cache-partition.ts'

/** The member of a subscription's filter for one list of the server (basic/patterns/subscriptions). */
export type ListChange = 'toolsListChanged' | 'promptsListChanged' | 'resourcesListChanged'

/** An event of a subscription (basic/patterns/subscriptions, receiving notifications). */
export type SubscriptionEvent =
  /**
   * A stream is open. The server will report the changes in `notifications`, and none of those in `refused`, which is
   * absent if it has accepted all. If `mayHaveMissedChanges` is true, every earlier result may be stale.
   */
  | {
      readonly type: 'opened'
      readonly notifications: SubscriptionFilter
      readonly refused?: SubscriptionFilter | undefined
      readonly mayHaveMissedChanges: boolean
    }
  /** The list has changed. */
  | { readonly type: ListChange }
  /** A subscribed resource, or a part of one, has changed. */
  | { readonly type: 'resourceUpdated'; readonly uri: string }
  /**
   * The stream ended and is opened again after `retryInMs` milliseconds. If `error` is absent, the server ended the
   * stream gracefully, as when it stops.
   */
  | { readonly type: 'interrupted'; readonly error?: ClientError | undefined; readonly retryInMs: number }

interface ListChangeMapping {
  readonly change: ListChange
  /** The method of the notification of this change. */
  readonly notificationMethod: string
  /** The methods whose cached results the change makes stale. */
  readonly staleMethods: readonly string[]
}

const listChangeMappings: readonly ListChangeMapping[] = [
  { change: 'toolsListChanged', notificationMethod: 'notifications/tools/list_changed', staleMethods: ['tools/list'] },
  {
    change: 'promptsListChanged',
    notificationMethod: 'notifications/prompts/list_changed',
    staleMethods: ['prompts/list'],
  },
  {
    change: 'resourcesListChanged',
    notificationMethod: 'notifications/resources/list_changed',
    staleMethods: ['resources/list', 'resources/templates/list'],
  },
]
const mappingsByNotification: ReadonlyMap<string, ListChangeMapping> = new Map(
  listChangeMappings.map((row) => [row.notificationMethod, row]),
)
const mappingsByChange: ReadonlyMap<string, ListChangeMapping> = new Map(
  listChangeMappings.map((row) => [row.change, row]),
)
const resourceUpdatedMethod = 'notifications/resources/updated'

/** The changes that a subscription covers. */
export interface WantedChanges extends SubscribedUris {
  readonly listChanges: ReadonlySet<ListChange>
}

/** A change of the server. */
export interface ReportedChange {
  readonly event: SubscriptionEvent
  /**
   * The subscribed resource that contains the changed resource, if the client subscribed only to that containing
   * resource.
   */
  readonly containingResource?: { readonly subscribedUri: string } | undefined
}

/** Parses a filter. Unknown members are ignored, and later changes to the object have no effect. */
export function wantedChangesOf(filter: SubscriptionFilter): WantedChanges {
  const listChanges = listChangeMappings.map(({ change }) => change).filter((change) => filter[change] === true)
  return createWantedChanges(listChanges, filter.resourceSubscriptions ?? [])
}

/**
 * Returns the part of the requested filter that the server accepted. Unknown members of the acknowledgement are
 * ignored, and a malformed member accepts no changes.
 */
export function acceptedChangesFrom(acknowledgedFilter: JsonObject, wantedChanges: WantedChanges): WantedChanges {
  const uris = Array.isArray(acknowledgedFilter.resourceSubscriptions) ? acknowledgedFilter.resourceSubscriptions : []
  return createWantedChanges(
    [...wantedChanges.listChanges].filter((change) => acknowledgedFilter[change] === true),
    uris.filter((uri) => typeof uri === 'string').filter((uri) => wantedChanges.uris.has(uri)),
  )
}

/** Returns the part of the requested filter that the server has left out. Undefined if there is none. */
export function refusedFilterOf(wanted: WantedChanges, accepted: WantedChanges): SubscriptionFilter | undefined {
  const lists = [...wanted.listChanges].filter((change) => !accepted.listChanges.has(change))
  const uris = [...wanted.uris].filter((uri) => !accepted.uris.has(uri))
  return lists.length + uris.length === 0 ? undefined : subscriptionFilterOf(createWantedChanges(lists, uris))
}

function createWantedChanges(listChanges: readonly ListChange[], uris: readonly string[]): WantedChanges {
  return { listChanges: new Set(listChanges), ...createSubscribedUris(uris) }
}

/** Returns a filter in the form of the protocol. */
export function subscriptionFilterOf({ listChanges, uris }: WantedChanges): SubscriptionFilter & JsonObject {
  return {
    ...Object.fromEntries([...listChanges].map((change) => [change, true])),
    ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
  }
}

// The maximum length of a URI. Longer URIs would let a server fill the memory of a client that reads slowly.
const maxUriLength = 2048

/** Returns the change that a notification reports, or undefined if the accepted filter does not cover the change. */
export function parseChangeNotification(
  { method, params }: RpcNotification,
  acceptedChanges: WantedChanges,
): ReportedChange | undefined {
  const row = mappingsByNotification.get(method)
  if (row) return acceptedChanges.listChanges.has(row.change) ? { event: { type: row.change } } : undefined
  if (method !== resourceUpdatedMethod || typeof params?.uri !== 'string') return undefined
  const { uri } = params
  if (acceptedChanges.uris.has(uri)) return { event: { type: 'resourceUpdated', uri } }
  const subscribedUri = findContainingUri(uri, acceptedChanges)
  if (subscribedUri === undefined) return undefined
  if (uri.length > maxUriLength) return { event: { type: 'resourceUpdated', uri: subscribedUri } }
  return { event: { type: 'resourceUpdated', uri }, containingResource: { subscribedUri } }
}

/**
 * Returns a predicate for the cached results that a change makes stale. A change of a part of a resource makes the
 * containing resource stale too.
 */
export function stalePredicateOf({ event, containingResource }: ReportedChange): StaleKeyPredicate {
  const row = mappingsByChange.get(event.type)
  if (row) return ({ method }) => row.staleMethods.includes(method)
  const uri = event.type === 'resourceUpdated' ? event.uri : undefined
  return ({ method, params }) =>
    method === 'resources/read' && (params.uri === uri || params.uri === containingResource?.subscribedUri)
}

/**
 * Returns a predicate for the cached results that may be stale after missed changes. They are all results that the
 * filter covers, and the parts of its resources.
 */
export function stalePredicateAfterGap(wantedChanges: WantedChanges): StaleKeyPredicate {
  const staleMethodSet = new Set(
    listChangeMappings
      .filter(({ change }) => wantedChanges.listChanges.has(change))
      .flatMap(({ staleMethods }) => staleMethods),
  )
  return ({ method, params }) => {
    if (staleMethodSet.has(method)) return true
    if (method !== 'resources/read' || typeof params.uri !== 'string') return false
    return wantedChanges.uris.has(params.uri) || findContainingUri(params.uri, wantedChanges) !== undefined
  }
}

/** Returns a predicate for the cached results that a notification makes stale, or undefined if it reports no change. */
export function stalePredicateByNotification({ method, params }: RpcNotification): StaleKeyPredicate | undefined {
  const row = mappingsByNotification.get(method)
  if (row) return stalePredicateOf({ event: { type: row.change } })
  if (method !== resourceUpdatedMethod || !isJsonObject(params) || typeof params.uri !== 'string') return undefined
  return stalePredicateOf({ event: { type: 'resourceUpdated', uri: params.uri } })
}

/** Returns the methods whose results a change makes stale. */
export function staleListMethods(change: ListChange): readonly string[] {
  return mappingsByChange.get(change)?.staleMethods ?? []
}

/** The URIs of subscribed resources, and the lengths of the URIs in descending order. */
export interface SubscribedUris {
  readonly uris: ReadonlySet<string>
  readonly lengths: readonly number[]
}

/** Makes {@link SubscribedUris} of URIs. */
export function createSubscribedUris(uris: readonly string[]): SubscribedUris {
  const lengths = new Set(uris.map(({ length }) => length))
  // An empty URI is a prefix of every URI, but contains no resource.
  lengths.delete(0)
  return { uris: new Set(uris), lengths: [...lengths].sort((a, b) => b - a) }
}

const pathDelimiters: ReadonlySet<string | undefined> = new Set(['/', '?', '#'])

/**
 * Returns the nearest subscribed resource that contains another resource by its path: `file:///a` and `file:///a/`
 * contain `file:///a/b`. A server may report a change of a part of a subscribed resource (schema,
 * ResourceUpdatedNotificationParams).
 */
export function findContainingUri(uri: string, { uris, lengths }: SubscribedUris): string | undefined {
  // Only prefixes that end at a path delimiter are looked up, because a server may send a text of millions of slashes.
  for (const length of lengths) {
    if (length >= uri.length || (!pathDelimiters.has(uri[length]) && !pathDelimiters.has(uri[length - 1]))) continue
    const prefix = uri.slice(0, length)
    if (uris.has(prefix)) return prefix
  }
  return undefined
}
