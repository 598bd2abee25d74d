/** The state behind one call's abort signal, which is made when somebody first looks at it: hardly anybody does. */
export interface Cancellation {
  controller: AbortController | undefined
  aborted: boolean
  reason: unknown
}

/** Starts a {@link Cancellation}. */
export function createCancellation(): Cancellation {
  return { controller: undefined, aborted: false, reason: undefined }
}

/** Aborts the signal, whether or not it has been looked at; the first reason stays. */
export function abort(cancellation: Cancellation, reason: unknown): void {
  if (cancellation.aborted) return
  cancellation.aborted = true
  cancellation.reason = reason
  cancellation.controller?.abort(reason)
}

/** The signal, made at the first look. */
export function signalOf(cancellation: Cancellation): AbortSignal {
  if (cancellation.controller !== undefined) return cancellation.controller.signal
  const controller = new AbortController()
  cancellation.controller = controller
  if (cancellation.aborted) controller.abort(cancellation.reason)
  return controller.signal
}
