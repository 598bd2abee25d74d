import { journalEntry, type JournalPart } from './journal.ts'
import { journalOf, loseRun, type Run } from './run.ts'

/** Passes a new entry of the journal to its store. */
export function noteEntry(run: Run, part: JournalPart, key?: string): void {
  run.request.journal?.note(journalEntry(journalOf(run), part, key))
}

/**
 * Commits new entries before the handler continues; undefined when there are none. When the commit fails, the run ends
 * here, and this rejects with its suspension.
 */
export function commitEntries(run: Run): Promise<void> | undefined {
  const committing = run.request.journal?.commit()
  return committing?.catch((error: unknown) => {
    throw loseRun(run, error)
  })
}
