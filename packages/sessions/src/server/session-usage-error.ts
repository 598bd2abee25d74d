/** The error of a program that uses sessions wrongly; its message is not meant for a peer. */
export class SessionUsageError extends Error {
  override readonly name = 'SessionUsageError'
}
