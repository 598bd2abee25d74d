/** A warning for the author of a server, though the call continues. */
export type WarningCode =
  /** A handler caught the suspension that a question ends its run with. */
  | 'swallowed'
  /** A call has asked so often that clients may give up. */
  | 'rounds'
  /** A handler does not do the same when it runs again. */
  | 'not-repeatable'
  /** `requestState` is sealed with a random key, which no other instance has. */
  | 'random-key'
  /** A tool's name has a form that some hosts reject. */
  | 'name'
  /** The measurement of `shedding.load` failed. */
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
