import { isJsonObject, type JsonObject, type RpcNotification, type SubscriptionFilter } from '@x/schema'
import type { ClientError } from '../request/client-error.ts'
import type { StaleKeyPredicate } from './cache-partition.ts'

/** One list of the server, as a subscription's filter names it (basic/patterns/subscriptions). */
export type ListChange = 'toolsListChanged' | 'promptsListChanged' | 'resourcesListChanged'

/** What a subscription reports (basic/patterns/subscriptions, receiving notifications). */
export type SubscriptionEvent =
  /**
   * A stream is open. The server will report the changes in `notifications` and none of those in `refused`, which is
   * absent if it accepted all. If `mayHaveMissedChanges` is true, every earlier result may be stale.
   */
  | {
      readonly type: 'opened'
      readonly notifications: SubscriptionFilter
      readonly refused?: SubscriptionFilter | undefined
      readonly mayHaveMissedChanges: boolean
    }
  /** This list has changed. */
  | { readonly type: ListChange }
  /** A subscribed resource, or a part of one, has changed. */
  | { readonly type: 'resourceUpdated'; readonly uri: string }
  /**
   * The stream ended, and is opened again after `retryInMs` milliseconds. Without an `error`, the server ended it
   * gracefully, as when it stops.
   */
  | { readonly type: 'interrupted'; readonly error?: ClientError | undefined; readonly retryInMs: number }

interface ListChangeMapping {
  readonly change: ListChange
  readonly notificationMethod: string
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

/** A subscription's filter, parsed. */
export interface WantedChanges extends SubscribedUris {
  readonly listChanges: ReadonlySet<ListChange>
}

export interface ReportedChange {
  readonly event: SubscriptionEvent
  /** Set if the client subscribed only to a resource that contains the changed one. */
  readonly containingResource?: { readonly subscribedUri: string } | undefined
}

/** Parses a filter. Unknown members are ignored, and later changes to your object have no effect. */
export function wantedChangesOf(filter: SubscriptionFilter): WantedChanges {
  const listChanges = listChangeMappings.map(({ change }) => change).filter((change) => filter[change] === true)
  return createWantedChanges(listChanges, filter.resourceSubscriptions ?? [])
}

/**
 * What the server accepted of the filter. Unknown members of its acknowledgement are ignored; a malformed member
 * accepts nothing.
 */
export function acceptedChangesFrom(acknowledgedFilter: JsonObject, wantedChanges: WantedChanges): WantedChanges {
  const uris = Array.isArray(acknowledgedFilter.resourceSubscriptions) ? acknowledgedFilter.resourceSubscriptions : []
  return createWantedChanges(
    [...wantedChanges.listChanges].filter((change) => acknowledgedFilter[change] === true),
    uris.filter((uri) => typeof uri === 'string').filter((uri) => wantedChanges.uris.has(uri)),
  )
}

/** What the server left out of the filter. Undefined if it left out nothing. */
export function refusedFilterOf(wanted: WantedChanges, accepted: WantedChanges): SubscriptionFilter | undefined {
  const lists = [...wanted.listChanges].filter((change) => !accepted.listChanges.has(change))
  const uris = [...wanted.uris].filter((uri) => !accepted.uris.has(uri))
  return lists.length + uris.length === 0 ? undefined : subscriptionFilterOf(createWantedChanges(lists, uris))
}

function createWantedChanges(listChanges: readonly ListChange[], uris: readonly string[]): WantedChanges {
  return { listChanges: new Set(listChanges), ...createSubscribedUris(uris) }
}

/** Writes a filter in the form of the protocol. */
export function subscriptionFilterOf({ listChanges, uris }: WantedChanges): SubscriptionFilter & JsonObject {
  return {
    ...Object.fromEntries([...listChanges].map((change) => [change, true])),
    ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
  }
}

// Maximum length of a URI. Without it, a server could fill the memory of a client that reads slowly.
const maxUriLength = 2048

/** Parses the change that a notification reports. Undefined if the accepted filter does not cover it. */
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
 * Matches the cached results that a change makes stale. If a part of a resource changes, its containing resource is
 * stale too.
 */
export function stalePredicateOf({ event, containingResource }: ReportedChange): StaleKeyPredicate {
  const row = mappingsByChange.get(event.type)
  if (row) return ({ method }) => row.staleMethods.includes(method)
  const uri = event.type === 'resourceUpdated' ? event.uri : undefined
  return ({ method, params }) =>
    method === 'resources/read' && (params.uri === uri || params.uri === containingResource?.subscribedUri)
}

/**
 * Matches what may be stale after missed changes: all results that the filter covers, and the parts of its resources.
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

/** Matches the cached results that a notification makes stale. Undefined if it reports no change. */
export function stalePredicateByNotification({ method, params }: RpcNotification): StaleKeyPredicate | undefined {
  const row = mappingsByNotification.get(method)
  if (row) return stalePredicateOf({ event: { type: row.change } })
  if (method !== resourceUpdatedMethod || !isJsonObject(params) || typeof params.uri !== 'string') return undefined
  return stalePredicateOf({ event: { type: 'resourceUpdated', uri: params.uri } })
}

export function staleListMethods(change: ListChange): readonly string[] {
  return mappingsByChange.get(change)?.staleMethods ?? []
}

/**
 * Subscribed resources, with the lengths of their URIs in descending order, so that the nearest container is found
 * first.
 */
export interface SubscribedUris {
  readonly uris: ReadonlySet<string>
  readonly lengths: readonly number[]
}

export function createSubscribedUris(uris: readonly string[]): SubscribedUris {
  const lengths = new Set(uris.map(({ length }) => length))
  // An empty URI is a prefix of every URI, but contains no resource.
  lengths.delete(0)
  return { uris: new Set(uris), lengths: [...lengths].sort((a, b) => b - a) }
}

const pathDelimiters: ReadonlySet<string | undefined> = new Set(['/', '?', '#'])

/**
 * Finds the nearest subscribed resource that contains another by its path: `file:///a` and `file:///a/` contain
 * `file:///a/b`. A server may report a change of a part of a subscribed resource (schema,
 * ResourceUpdatedNotificationParams).
 */
export function findContainingUri(uri: string, { uris, lengths }: SubscribedUris): string | undefined {
  // Looks up only prefixes that end at a path delimiter and have a subscribed length; a server may send a text of
  // millions of slashes.
  for (const length of lengths) {
    if (length >= uri.length || (!pathDelimiters.has(uri[length]) && !pathDelimiters.has(uri[length - 1]))) continue
    const prefix = uri.slice(0, length)
    if (uris.has(prefix)) return prefix
  }
  return undefined
}
