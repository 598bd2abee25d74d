/** One call's abort signal, made when somebody first looks at it: most calls end before anybody does. */
export interface Cancellation {
  readonly signal: AbortSignal
  /** Aborts the signal; the first reason stays. */
  abort(reason: unknown): void
}

/** Makes a {@link Cancellation}. */
export function createCancellation(): Cancellation {
  let controller: AbortController | undefined
  let aborted = false
  let reason: unknown
  return {
    get signal() {
      if (controller === undefined) {
        controller = new AbortController()
        if (aborted) controller.abort(reason)
      }
      return controller.signal
    },
    abort(why) {
      if (aborted) return
      aborted = true
      reason = why
      controller?.abort(why)
    },
  }
}
