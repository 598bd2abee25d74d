/** The request that an error belongs to. */
export interface ErrorContext {
  readonly method: string
  /** The name or URI of the tool, prompt, resource or template. */
  readonly name?: string | undefined
}

/** The part of a server's settings that reports errors. */
export interface ErrorReporter {
  readonly onError: (error: unknown, errorContext: ErrorContext) => void
}

/** Reports an error that the peer does not see whole. An `onError` that fails changes nothing. */
export function reportServerError(error: unknown, errorContext: ErrorContext, { onError }: ErrorReporter): void {
  try {
    onError(error, errorContext)
  } catch {
    // The request continues: its answer must not depend on how its errors are written down.
  }
}

/** A name from a peer, for an error message: quoted, and never long. */
export function quoteName(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
}

/** A warning for the author of a server, though the call continues. */
export type WarningCode =
  /** A handler caught the suspension that a question ends its run with. */
  | 'swallowed'
  /** A call has asked so often that clients may give up. */
  | 'rounds'
  /** A handler does not do the same when it runs again. */
  | 'not_repeatable'
  /** A handler builds the schema of a question in each run. It could build it once with `form()`. */
  | 'rebuilt_form'
  /** `requestState` is sealed with a random key, which no other instance has. */
  | 'random_key'
  /** Clients of other machines listen, and changes at other instances do not reach them. */
  | 'local_bus'
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
