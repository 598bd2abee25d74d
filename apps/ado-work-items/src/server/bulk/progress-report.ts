import type { Context } from '@x/server'
import { type Entry, nameOf, type Outcome } from './outcome.ts'

/** The outcomes of all work items so far. */
export interface ProgressReport {
  /** Records the outcome of a work item. Sends a progress notification if the outcome is final. */
  note(entry: Entry): void
  /** Returns the entries whose outcome has this status. */
  of<S extends Outcome['status']>(status: S): readonly EntryOf<S>[]
  entries(): readonly Entry[]
}

/** An entry whose outcome has the status `S`. */
export type EntryOf<S extends Outcome['status']> = Entry & { readonly outcome: Extract<Outcome, { status: S }> }

const progressTexts: Readonly<Record<Outcome['status'], string | undefined>> = {
  changed: 'is changed',
  unchanged: 'has these values already',
  skipped: 'is skipped',
  waiting: undefined,
  conflict: undefined,
}

/** Creates a report for `total` work items. Final outcomes are sent as progress notifications. */
export function openReport(total: number, { progress }: Pick<Context, 'progress'>): ProgressReport {
  const entries = new Map<number, Entry>()
  let done = 0
  return {
    note: (entry) => {
      const { target, outcome } = entry
      entries.set(target.id, entry)
      const text = progressTexts[outcome.status]
      if (text === undefined) return
      done += 1
      progress(done, total, `${done} of ${total}: ${nameOf(target)} ${text}`)
    },
    of: <S extends Outcome['status']>(status: S) =>
      [...entries.values()].filter((entry): entry is EntryOf<S> => entry.outcome.status === status),
    entries: () => [...entries.values()],
  }
}
