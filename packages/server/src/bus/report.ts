/**
 * An `onError` that may be called anywhere: what it throws itself goes no further, for it is called while others wait for their turn.
 * Without one, nobody is told.
 */
export function reporter(onError: ((error: unknown) => void) | undefined): (error: unknown) => void {
  return (error) => {
    try {
      onError?.(error)
    } catch {
      // Whoever is told of errors cannot be told of this one.
    }
  }
}
