/** The recorded events of a task or a job, in their usual order. */
export type TaskEvent = 'sent' | 'answered' | 'begun' | 'updated' | 'resumed'

/** The times of the events of each token. */
export interface Timestamps {
  record(event: TaskEvent, token: string): void
  /** Returns the milliseconds from one event to another, for each token. They are negative if the second came first. */
  durations(from: TaskEvent, to: TaskEvent, tokens: readonly string[]): readonly number[]
}

/** Creates an empty {@link Timestamps}. */
export function createTimestamps(): Timestamps {
  const recorded = new Map<TaskEvent, Map<string, number>>()
  return {
    record: (event, token) => {
      const now = performance.now()
      const times = recorded.get(event) ?? new Map<string, number>()
      recorded.set(event, times)
      // A handler runs again from its first line when its task resumes. Only the first time counts.
      if (!times.has(token)) times.set(token, now)
    },
    durations: (from, to, tokens) => tokens.map((token) => timeOf(recorded, to, token) - timeOf(recorded, from, token)),
  }
}

function timeOf(
  recorded: ReadonlyMap<TaskEvent, ReadonlyMap<string, number>>,
  event: TaskEvent,
  token: string,
): number {
  const time = recorded.get(event)?.get(token)
  if (time === undefined) throw new Error(`${token} was never ${event}: record the event first`)
  return time
}
