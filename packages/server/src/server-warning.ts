/** What a server's author should know, though the call goes on. */
export type WarningCode =
  /** A handler caught the suspension that a question ends its run with. */
  | 'swallowed'
  /** A call has asked so often that clients may give up. */
  | 'rounds'
  /** A handler does not do the same when it runs again. */
  | 'not-repeatable'
  /** `requestState` is sealed with a random key, which no other instance has. */
  | 'random-key'
  /** What `shedding.load` was given failed to measure. */
  | 'load'

/** A warning about one of the server's handlers, or about the server. */
export interface ServerWarning {
  readonly code: WarningCode
  readonly message: string
  /** The method, tool, prompt or resource that it is about. */
  readonly where?: { readonly method: string; readonly name: string } | undefined
  /** The key that the handler gave. */
  readonly key?: string | undefined
}
