import { platformRuntime } from '@x/core'

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

/** The options of each use: shorter times than the defaults, which are reached in the same way. */
export const limits = {
  timeoutMs: 500,
  // No pause between two rounds is longer than 20 ms. The time limits of requests stay, because the client checks them
  // each time that a timer fires.
  runtime: {
    ...platformRuntime,
    setTimeout: (run: () => void, ms: number) => platformRuntime.setTimeout(run, Math.min(ms, 20)),
  },
} as const
