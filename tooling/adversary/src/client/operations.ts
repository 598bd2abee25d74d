/** The operations that the client under attack knows. */
export type Operation = 'callTool' | 'checkedCall' | 'discover' | 'getPrompt' | 'listTools' | 'listen' | 'readResource'

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
}

/** The time limit of each use, in milliseconds, and the longest that progress may prolong it to. */
export const limits = { timeoutMs: 500, maxTotalMs: 1000 } as const
