import type { InputRequest, InputRequests, JsonValue } from '@x/schema'

/**
 * Records which requests for input of one task were asked and answered. All calls of this client that follow the task
 * share it. A task uses each key for one request only.
 */
export interface InputRequestTracker {
  /** The number of states so far that had a new request. */
  roundCount: number
  /** The keys of requests whose answers the server has accepted. */
  readonly answeredRequestKeys: ReadonlySet<string>
  /**
   * Returns the requests of a state that were not returned before, so that each is asked once. Returns `changedKey`
   * instead if a known key now has another request (seps/2663-tasks-extension, task update requests).
   */
  selectNewRequests(requests: InputRequests): NewRequests
  /** Makes keys new again, because their requests were not answered. */
  release(keys: Iterable<string>): void
  /** Records that the server has accepted the answers to these keys. */
  markAnswered(keys: Iterable<string>): void
}

/** The new requests of a state, or the key of a request that changed. */
export type NewRequests = { readonly requests: ReadonlyMap<string, InputRequest> } | { readonly changedKey: string }

/**
 * Creates an {@link InputRequestTracker}. The requests of `earlierAnsweredKeys` were answered before the task was
 * resumed here.
 */
export function createInputRequestTracker(earlierAnsweredKeys: readonly string[]): InputRequestTracker {
  const answeredKeys = new Set(earlierAnsweredKeys)
  /** The text of the request of each key. A key that was answered before the task was resumed has no text. */
  const requestTexts = new Map<string, string>()
  return {
    roundCount: 0,
    answeredRequestKeys: answeredKeys,
    selectNewRequests: (requests) => {
      const entries = Object.entries(requests)
      const changedEntry = entries.find(
        ([key, request]) => requestTexts.has(key) && requestTexts.get(key) !== canonicalizeRequest(request),
      )
      if (changedEntry) return { changedKey: changedEntry[0] }
      const newEntries = entries.filter(([key]) => !requestTexts.has(key) && !answeredKeys.has(key))
      for (const [key, request] of newEntries) requestTexts.set(key, canonicalizeRequest(request))
      return { requests: new Map(newEntries) }
    },
    release: (keys) => {
      for (const key of keys) requestTexts.delete(key)
    },
    markAnswered: (keys) => {
      for (const key of keys) answeredKeys.add(key)
    },
  }
}

/** Returns a request as a text with sorted members, because the store of a server may change the order of members. */
function canonicalizeRequest(request: InputRequest): string {
  // A request is JSON, but its readonly type is not assignable to `JsonValue`.
  return JSON.stringify(sortMembers(request as unknown as JsonValue))
}

function sortMembers(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortMembers)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => [key, sortMembers(member ?? null)])
}
