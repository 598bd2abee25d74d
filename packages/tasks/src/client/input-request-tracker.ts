import { sortMembers } from '@x/core'
import type { InputRequest, InputRequests, InputResponse, InputResponses, JsonValue } from '@x/schema'

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
 * Records which requests for input of one task were asked and answered, so that a person answers each request once. All
 * calls of this client that follow the task share it.
 */
export class InputRequestTracker {
  #roundCount = 0
  readonly #requests = new Map<string, TrackedRequest>()

  /** The requests of `earlierAnsweredKeys` were answered before the task was resumed here. */
  constructor(earlierAnsweredKeys: readonly string[]) {
    for (const key of earlierAnsweredKeys)
      this.#requests.set(key, { text: undefined, answer: undefined, isPending: false, listedCount: 0 })
  }

  /** Counts a state that had a new request. Returns their number so far. */
  beginRound(): number {
    this.#roundCount += 1
    return this.#roundCount
  }

  /** Lists the keys of requests whose answers the server has accepted. */
  listAnsweredKeys(): string[] {
    return [...this.#requests].flatMap(([key, { isPending }]) => (isPending ? [] : [key]))
  }

  /** Records the open requests of a state that was read. */
  observe(requests: InputRequests): void {
    for (const [key, tracked] of this.#requests) {
      if (Object.hasOwn(requests, key)) tracked.listedCount += 1
      // A state without the request shows that the answer had arrived. If a later state lists it, the answer is lost.
      else tracked.listedCount = listedUntilLost - 1
    }
  }

  /**
   * Returns true if the server has accepted the answer to this request. Returns false again once the states show that
   * the server has lost the answer, or if the key has another request now.
   */
  isAnswered(key: string, request: InputRequest): boolean {
    const tracked = this.#requests.get(key)
    if (tracked === undefined || tracked.isPending || this.isReplaced(key, request)) return false
    return tracked.listedCount < listedUntilLost
  }

  /** Returns true if a key was asked or answered with another request. */
  isReplaced(key: string, request: InputRequest): boolean {
    const text = this.#requests.get(key)?.text
    return text !== undefined && text !== canonicalizeRequest(request)
  }

  /** Returns the requests of a state that need an answer now. Until they are answered or released, it skips them. */
  takeRequests(requests: InputRequests): UnansweredRequests {
    const newRequests = new Map<string, InputRequest>()
    const lostAnswers: Record<string, InputResponse> = {}
    for (const [key, request] of Object.entries(requests)) {
      const tracked = this.#requests.get(key)
      if (tracked?.isPending === true || this.isAnswered(key, request)) continue
      const answer = this.isReplaced(key, request) ? undefined : tracked?.answer
      if (answer === undefined) newRequests.set(key, request)
      else lostAnswers[key] = answer
      this.#requests.set(key, { text: canonicalizeRequest(request), answer, isPending: true, listedCount: 0 })
    }
    return { newRequests, lostAnswers }
  }

  /** Makes keys new again, because their requests were not answered. */
  release(keys: Iterable<string>): void {
    for (const key of keys) this.#requests.delete(key)
  }

  /** Records that the server has accepted these answers. */
  markAnswered(answers: InputResponses): void {
    for (const [key, answer] of Object.entries(answers))
      this.#requests.set(key, { text: this.#requests.get(key)?.text, answer, isPending: false, listedCount: 0 })
  }
}

/** Returns a request as a text with sorted members, because the store of a server may change the order of members. */
function canonicalizeRequest(request: InputRequest): string {
  // A request is JSON, but its readonly type is not assignable to `JsonValue`.
  return JSON.stringify(sortMembers(request as unknown as JsonValue))
}
