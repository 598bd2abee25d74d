import type { McpError } from '@x/schema'
import type { HandOffReason } from '../shedding/shedding-options.ts'
import type { HandlerError } from './handler-error.ts'
import type { AskedQuestion } from './journal.ts'

/** How a run ends decides how its call continues. */
export type RunEnd =
  /** Storing the journal failed, and so does the call, even if the handler catches the error. */
  | { readonly kind: 'store_failed'; readonly error: McpError }
  /** The handler misused its context. The call fails, even if the handler catches the error. */
  | { readonly kind: 'misused'; readonly error: HandlerError }
  /** Questions must be answered before the call continues. */
  | { readonly kind: 'asked'; readonly questions: ReadonlyMap<string, AskedQuestion> }
  /** Ended before a suspension, with no end of a higher rank; or the questions were dropped. */
  | { readonly kind: 'finished' }
  | { readonly kind: 'became_task' }
  | { readonly kind: 'handed_off'; readonly reason: HandOffReason }
  /** Runs again at once, because every step ends a run in strict replay. */
  | { readonly kind: 'restarted' }

/**
 * Ranks ends for a run in which several occur: the highest wins, and among equals the first. `asked` outranks
 * `finished`, because a handler that threw after its question may have thrown for lack of the answer. (If it returned,
 * `settleRun` decides: the run is misused, or its questions are dropped.) `finished` outranks `became_task` and
 * `handed_off`, because a handler that has finished needs neither a task nor another instance. Only `Run.dropQuestions`
 * goes down in rank.
 */
const endRanks: Readonly<Record<RunEnd['kind'], number>> = {
  store_failed: 7,
  misused: 6,
  asked: 5,
  finished: 4,
  became_task: 3,
  handed_off: 2,
  restarted: 1,
}

export const finishedEnd: RunEnd = { kind: 'finished' }

/** Chooses between a run's end, if it has one, and a proposed one: the higher rank wins, else the first. */
export function higherEnd(end: RunEnd | undefined, proposedEnd: RunEnd): RunEnd {
  return end === undefined || endRanks[proposedEnd.kind] > endRanks[end.kind] ? proposedEnd : end
}
