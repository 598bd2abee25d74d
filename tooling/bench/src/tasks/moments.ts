/** What is noted of a task or a job, in the order of a task's life. */
export type Moment = 'sent' | 'answered' | 'begun' | 'updated' | 'resumed'

/** When what happened, each thing once for each token. */
export interface Moments {
  note(moment: Moment, token: string): void
  /** Milliseconds from one moment to another, of every one of the tokens; below 0 where the second came first. */
  between(from: Moment, to: Moment, tokens: readonly string[]): readonly number[]
}

/** Makes {@link Moments} without any. */
export function createMoments(): Moments {
  const noted = new Map<Moment, Map<string, number>>()
  return {
    note: (moment, token) => {
      const now = performance.now()
      const times = noted.get(moment) ?? new Map<string, number>()
      noted.set(moment, times)
      // A handler runs from its top again when its task goes on; what counts is the first time.
      if (!times.has(token)) times.set(token, now)
    },
    between: (from, to, tokens) => tokens.map((token) => at(noted, to, token) - at(noted, from, token)),
  }
}

function at(noted: ReadonlyMap<Moment, ReadonlyMap<string, number>>, moment: Moment, token: string): number {
  const time = noted.get(moment)?.get(token)
  if (time === undefined) throw new Error(`${token} was never ${moment}: only what has happened has a time`)
  return time
}
