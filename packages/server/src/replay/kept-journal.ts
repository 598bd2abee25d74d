import { entryOf, type JournalPart } from './journal.ts'
import { journalOf, lose, type Run } from './run.ts'

/** Tells whoever keeps the journal what is new in it. */
export function note(run: Run, part: JournalPart, key?: string): void {
  run.scope.call.journal?.note(entryOf(journalOf(run), part, key))
}

/**
 * Has what was noted kept, before the handler goes on; undefined when there is nothing to wait for. When it cannot be kept, the
 * run ends here, and what this rejects with is its suspension.
 */
export function keep(run: Run): Promise<void> | undefined {
  const keeping = run.scope.call.journal?.commit()
  return keeping?.catch((error: unknown) => {
    throw lose(run, error)
  })
}
