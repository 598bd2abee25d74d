/** The operations that the client under attack knows. */
export type Operation =
  | 'abortedCall'
  | 'alteredList'
  | 'callTool'
  | 'checkedCall'
  | 'checkedCalls'
  | 'discover'
  | 'getPrompt'
  | 'listTools'
  | 'listen'
  | 'openUrl'
  | 'readResource'
  | 'stepUps'

/** A use of the client: one operation on a hostile server. */
export interface Use {
  readonly operation: Operation
  readonly url: string
}

/** Outcome of a use: its error's code, or none. */
export interface Used {
  readonly error?: string | undefined
  /** The warnings that the client gave. */
  readonly warnings: number
  /** The URLs that the host was to open. */
  readonly openedUrls: readonly string[]
}

/** The calls of a use that makes many. */
export const callCount = 20

/** The options of each use: times and counts that are shorter than the defaults, and reached in the same way. */
export const limits = {
  timeoutMs: 500,
  maxTotalMs: 1000,
  maxPages: 100,
  rounds: { pauseBounds: { initialMs: 5, maxMs: 20 } },
} as const
