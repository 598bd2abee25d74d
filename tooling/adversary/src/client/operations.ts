import { platformRuntime } from '@x/core'

/** The operations of the attacked client. */
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

/** A request to run one operation on a hostile server. */
export interface OperationRequest {
  readonly operation: Operation
  readonly url: string
  /** True if the client must accept the answer, however busy the machine is. */
  readonly isServed?: boolean
}

/** The outcome of an operation. `error` is the code of its error. */
export interface OperationOutcome {
  readonly error?: string | undefined
  /** The number of warnings that the client logged. */
  readonly warnings: number
  /** The URLs that the client asked the host to open. */
  readonly openedUrls: readonly string[]
}

/** The number of calls of an operation with several calls. */
export const callCount = 20

/** The client options of each operation. Their times are shorter than the defaults. */
export const limits = {
  timeoutMs: 500,
  // No pause between two rounds is longer than 20 ms. The timeouts of requests stay the same, because the client checks
  // them when a timer fires.
  runtime: {
    ...platformRuntime,
    setTimeout: (run: () => void, ms: number) => platformRuntime.setTimeout(run, Math.min(ms, 20)),
  },
} as const

/** The limit in milliseconds of an answer that the client must accept. */
export const servedTimeoutMs = 60_000
