/** What a program can read of a connection's process. */
export interface ProcessView {
  /** Id of the running process. `undefined` if none is running. */
  readonly pid: number | undefined
  /** How often a process was started in place of an earlier one. */
  readonly restartCount: number
  /**
   * Ends the running process at once, as a crash would: by SIGKILL, with what it has started. Its calls reject with
   * `exited`. This is no failure, so the next call starts another process without a pause. Does nothing if no process
   * is running.
   */
  kill(): void
}

/** How a process ended. */
export interface ProcessExit {
  readonly pid: number | undefined
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  /**
   * True if `close()` was called before the exit. False if this side ended the process for another reason, such as a
   * failed first request.
   */
  readonly expected: boolean
  /** Last lines on stderr, at most 2,000 characters. Empty if stderr is inherited. */
  readonly stderr: string
}
