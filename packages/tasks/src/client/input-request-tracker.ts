import type { InputRequest, InputRequests, JsonValue } from '@x/schema'

/** The requests of one task, shared by all calls that follow it here. A key is used once in the life of a task. */
export interface InputRequestTracker {
  /** The number of states that had a new request. */
  roundCount: number
  /** The keys whose answers the server has taken. */
  readonly answeredRequestKeys: ReadonlySet<string>
  /**
   * Returns the requests of a state whose keys are new, so that each is asked once. `changedKey` names a key that has
   * another request now (seps/2663-tasks-extension, task update requests).
   */
  selectNewRequests(requests: InputRequests): NewRequests
  /** Makes keys new again, whose requests were not answered. */
  release(keys: Iterable<string>): void
  /** The server has taken the answers. */
  markAnswered(keys: Iterable<string>): void
}

/** The new requests of a state, or the key of a request that changed. */
export type NewRequests = { readonly requests: ReadonlyMap<string, InputRequest> } | { readonly changedKey: string }

/** Makes an {@link InputRequestTracker}. `earlierAnsweredKeys` were answered before the task was resumed here. */
export function createInputRequestTracker(earlierAnsweredKeys: readonly string[]): InputRequestTracker {
  const answeredKeys = new Set(earlierAnsweredKeys)
  /** The request of each key, as one text. Keys that were answered elsewhere have none. */
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

/** Returns a request as one text with sorted members, because stores of servers may change their order. */
function canonicalizeRequest(request: InputRequest): string {
  // Types of the protocol are JSON, which their readonly interfaces cannot say.
  return JSON.stringify(sortMembers(request as unknown as JsonValue))
}

function sortMembers(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortMembers)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => [key, sortMembers(member ?? null)])
}
