/** A mistake of the program that uses sessions; its message names it, and is not meant for a peer. */
export class SessionUsageError extends Error {
  override readonly name = 'SessionUsageError'
}
