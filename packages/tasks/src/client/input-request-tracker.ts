import { sortMembers } from '@x/core'
import type { InputRequest, InputRequests, InputResponse, InputResponses, JsonValue } from '@x/schema'

/**
 * Records which requests for input of one task were asked and answered, so that a person answers each request once. All
 * calls of this client that follow the task share it.
 */
export interface InputRequestTracker {
  /** The number of states so far that had a new request. */
  roundCount: number
  /** Lists the keys of requests whose answers the server has accepted. */
  listAnsweredKeys(): string[]
  /** Records the open requests of a state that was read. */
  observe(requests: InputRequests): void
  /**
   * Returns true if the server has accepted the answer to this request. Returns false again once the states show that
   * the server has lost the answer, or if the key has another request now.
   */
  isAnswered(key: string, request: InputRequest): boolean
  /** Returns true if a key was asked or answered with another request. */
  isReplaced(key: string, request: InputRequest): boolean
  /** Returns the requests of a state that need an answer now. Until they are answered or released, it skips them. */
  takeRequests(requests: InputRequests): UnansweredRequests
  /** Makes keys new again, because their requests were not answered. */
  release(keys: Iterable<string>): void
  /** Records that the server has accepted these answers. */
  markAnswered(answers: InputResponses): void
}

/** The requests of a state that need an answer. */
export interface UnansweredRequests {
  /** The requests that were not asked yet. */
  readonly newRequests: ReadonlyMap<string, InputRequest>
  /** The answers that the server accepted and has lost. */
  readonly lostAnswers: InputResponses
}

interface TrackedRequest {
  /** Undefined if the request was answered before the task was resumed here. */
  readonly text: string | undefined
  /** The last answer that the server accepted. Undefined without one, or if the task was resumed here since. */
  readonly answer: InputResponse | undefined
  /** True while the request is asked, or its answer is sent. */
  readonly isPending: boolean
  /** The number of states that have listed the request since the server accepted its answer. */
  listedCount: number
}

/**
 * The number of states that list an answered request until its answer counts as lost. A server may accept an answer
 * before its states show that (seps/2663-tasks-extension, task update requests).
 */
const listedUntilLost = 3

/**
 * Creates an {@link InputRequestTracker}. The requests of `earlierAnsweredKeys` were answered before the task was
 * resumed here.
 */
export function createInputRequestTracker(earlierAnsweredKeys: readonly string[]): InputRequestTracker {
  const trackedRequests = new Map<string, TrackedRequest>()
  for (const key of earlierAnsweredKeys)
    trackedRequests.set(key, { text: undefined, answer: undefined, isPending: false, listedCount: 0 })

  const isReplaced = (key: string, request: InputRequest): boolean => {
    const text = trackedRequests.get(key)?.text
    return text !== undefined && text !== canonicalizeRequest(request)
  }
  const isAnswered = (key: string, request: InputRequest): boolean => {
    const tracked = trackedRequests.get(key)
    if (tracked === undefined || tracked.isPending || isReplaced(key, request)) return false
    return tracked.listedCount < listedUntilLost
  }
  return {
    roundCount: 0,
    listAnsweredKeys: () => [...trackedRequests.keys()].filter((key) => trackedRequests.get(key)?.isPending === false),
    observe(requests) {
      for (const [key, tracked] of trackedRequests) {
        if (Object.hasOwn(requests, key)) tracked.listedCount += 1
        // A state without the request shows that the answer had arrived. If a later state lists it, the answer is lost.
        else tracked.listedCount = listedUntilLost - 1
      }
    },
    isAnswered,
    isReplaced,
    takeRequests(requests) {
      const newRequests = new Map<string, InputRequest>()
      const lostAnswers: Record<string, InputResponse> = {}
      for (const [key, request] of Object.entries(requests)) {
        const tracked = trackedRequests.get(key)
        if (tracked?.isPending === true || isAnswered(key, request)) continue
        const answer = isReplaced(key, request) ? undefined : tracked?.answer
        if (answer === undefined) newRequests.set(key, request)
        else lostAnswers[key] = answer
        trackedRequests.set(key, { text: canonicalizeRequest(request), answer, isPending: true, listedCount: 0 })
      }
      return { newRequests, lostAnswers }
    },
    release(keys) {
      for (const key of keys) trackedRequests.delete(key)
    },
    markAnswered(answers) {
      for (const [key, answer] of Object.entries(answers))
        trackedRequests.set(key, { text: trackedRequests.get(key)?.text, answer, isPending: false, listedCount: 0 })
    },
  }
}

/** Returns a request as a text with sorted members, because the store of a server may change the order of members. */
function canonicalizeRequest(request: InputRequest): string {
  // A request is JSON, but its readonly type is not assignable to `JsonValue`.
  return JSON.stringify(sortMembers(request as unknown as JsonValue))
}
