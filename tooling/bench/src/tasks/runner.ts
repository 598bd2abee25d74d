import type { Timestamps } from './timestamps.ts'

/** A system that runs work in the background: a server with tasks, or pg-boss alone. */
export interface Runner {
  readonly timestamps: Timestamps
  /** Creates one task or job, and resolves when it is stored. */
  create(token: string): Promise<void>
  /** Resolves when the handler has ended, and for tasks, when the result is stored. */
  ended(token: string): Promise<void>
  /** Resolves when the results of all ended handlers are stored. */
  settle(): Promise<void>
  /** Throws unless each handler ran once, and the right result is stored. */
  check(tokens: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** An implementation under measurement. */
export interface Implementation {
  readonly name: string
  /** Opens a runner over the stored tasks or jobs. None of them is pending. */
  open(options: { readonly concurrency: number }): Promise<Runner>
}

/** The name of the implementation that the others are compared with. */
export const reference = 'pg-boss'

/** Returns the expected result for a token. It is the same for each implementation. */
export function resultOf(token: string): string {
  return `did ${token}`
}

/** Throws unless the handler of every token ran exactly once. */
export function checkRuns(runs: ReadonlyMap<string, number>, tokens: readonly string[]): void {
  const wrong = tokens.find((token) => runs.get(token) !== 1)
  if (wrong !== undefined)
    throw new Error(`the work of ${wrong} was done ${runs.get(wrong) ?? 0} times: it must be done once`)
}

/** Counts one more run of the handler of a token. */
export function countRun(runs: Map<string, number>, token: string): void {
  runs.set(token, (runs.get(token) ?? 0) + 1)
}
