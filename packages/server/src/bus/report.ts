/**
 * Wraps an `onError` so that it may be called anywhere: an error that it throws itself is dropped, because others wait
 * for their turn. Without an `onError`, errors are dropped.
 */
export function reporter(onError: ((error: unknown) => void) | undefined): (error: unknown) => void {
  return (error) => {
    try {
      onError?.(error)
    } catch {
      // An error of the error handler cannot be reported to it.
    }
  }
}
