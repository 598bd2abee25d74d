import type { Timestamps } from './timestamps.ts'

/** What takes work on and does it in the background: a server with tasks, or pg-boss alone. */
export interface Runner {
  readonly timestamps: Timestamps
  /** Takes one piece of work on; resolves when it is kept. */
  create(token: string): Promise<void>
  /** Resolves when its handler has ended, and for tasks, when that is kept. */
  ended(token: string): Promise<void>
  /** Resolves when the end of everything that has ended is kept. */
  settle(): Promise<void>
  /** Throws unless each was done once, and is kept with the right result. */
  check(tokens: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** What takes turns. */
export interface Implementation {
  readonly name: string
  /** Begins with what is kept already, and with nothing under way. */
  open(options: { readonly concurrency: number }): Promise<Runner>
}

/** The implementation that the others are compared with. */
export const reference = 'pg-boss'

/** What comes back for a token, for every implementation. */
export function resultOf(token: string): string {
  return `did ${token}`
}

/** Throws unless every token has had its handler begun exactly once. */
export function checkRuns(runs: ReadonlyMap<string, number>, tokens: readonly string[]): void {
  const wrong = tokens.find((token) => runs.get(token) !== 1)
  if (wrong !== undefined)
    throw new Error(`the work of ${wrong} was done ${runs.get(wrong) ?? 0} times: it has to be once`)
}

/** Counts one more. */
export function countRun(runs: Map<string, number>, token: string): void {
  runs.set(token, (runs.get(token) ?? 0) + 1)
}
