import { type ErrorListener, errorListener } from '@x/schema'

/**
 * Wraps an `onError` so that it may be called anywhere: an error that it throws itself is dropped, because others wait
 * for their turn. Without an `onError`, each error is a line of `console.error`.
 */
export function reporter(given: ErrorListener<[error: unknown]>): (error: unknown) => void {
  const onError = errorListener(given, '@x/server', () => 'change bus')
  return (error) => {
    try {
      onError(error)
    } catch {
      // An error of the error handler cannot be reported to it.
    }
  }
}
