import { sortMembers } from '@x/core'
import type { InputRequest, InputRequests, InputResponse, InputResponses, JsonValue } from '@x/schema'

/**
 * After so many states that still list an answered request, its answer counts as lost. A server may accept an answer
 * before its states show that (seps/2663-tasks-extension, task update requests).
 */
const listedUntilLost = 3

/**
 * Makes sure that a person answers each request of a task once: it records what was asked and answered, and all calls
 * of this client that follow the task share it.
 */
export class InputRequestTracker {
  #roundCount = 0
  // Bounded by the questions of one task, in a message whose bytes have a limit.
  readonly #requests = new Map<
    string,
    {
      readonly text: string | undefined
      /** Last answer that the server accepted. Undefined without one, or if the task was resumed here since. */
      readonly answer: InputResponse | undefined
      readonly isPending: boolean
      listedCount: number
    }
  >()

  /** `earlierAnsweredKeys` were answered before the task was resumed here. */
  constructor(earlierAnsweredKeys: readonly string[]) {
    for (const key of earlierAnsweredKeys)
      this.#requests.set(key, { text: undefined, answer: undefined, isPending: false, listedCount: 0 })
  }

  /** Counts a state that had a new request, and returns how many there were so far. */
  beginRound(): number {
    this.#roundCount += 1
    return this.#roundCount
  }

  /** Keys of requests whose answers the server has accepted, in the order of the answers. */
  listAnsweredKeys(): string[] {
    return [...this.#requests].flatMap(([key, { isPending }]) => (isPending ? [] : [key]))
  }

  /** Records a state's open requests. */
  observe(requests: InputRequests): void {
    for (const [key, tracked] of this.#requests) {
      if (Object.hasOwn(requests, key)) tracked.listedCount += 1
      // A state without the request proves that the answer had arrived. If a later one lists it, the answer is lost.
      else tracked.listedCount = listedUntilLost - 1
    }
  }

  /**
   * True once the server has accepted the answer to this request. False again if the states show that it was lost, or
   * if the key now has another request.
   */
  isAnswered(key: string, request: InputRequest): boolean {
    const tracked = this.#requests.get(key)
    if (tracked === undefined || tracked.isPending || this.isReplaced(key, request)) return false
    return tracked.listedCount < listedUntilLost
  }

  /** True if the key was asked or answered with another request. */
  isReplaced(key: string, request: InputRequest): boolean {
    const text = this.#requests.get(key)?.text
    return text !== undefined && text !== canonicalizeRequest(request)
  }

  /** Takes what a state needs answered now. It is not returned again until it is answered or released. */
  takeRequests(requests: InputRequests): {
    /** Not asked yet. */
    readonly newRequests: ReadonlyMap<string, InputRequest>
    /** Accepted by the server, and lost by it since. */
    readonly lostAnswers: InputResponses
  } {
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

  /** Makes keys new again: their requests were not answered. */
  release(keys: Iterable<string>): void {
    for (const key of keys) this.#requests.delete(key)
  }

  /** Records that the server has accepted these answers. */
  markAnswered(answers: InputResponses): void {
    for (const [key, answer] of Object.entries(answers)) {
      const text = this.#requests.get(key)?.text
      this.#requests.delete(key)
      this.#requests.set(key, { text, answer, isPending: false, listedCount: 0 })
    }
  }
}

/** Sorts members, because a server's store may change their order. */
function canonicalizeRequest(request: InputRequest): string {
  // A request is JSON, but TypeScript does not assign its readonly type to `JsonValue`.
  return JSON.stringify(sortMembers(request as unknown as JsonValue))
}
