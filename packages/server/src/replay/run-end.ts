import type { McpError } from '@x/schema'
import type { HandOffReason } from '../shedding/shedding-options.ts'
import type { HandlerError } from './handler-error.ts'
import type { AskedQuestion } from './journal.ts'

/** The end of a run, which decides how its call continues. */
export type RunEnd =
  /** The journal could not be stored. The call fails, even if the handler catches the error. */
  | { readonly kind: 'store_failed'; readonly error: McpError }
  /** The handler misused its context. The call fails, even if the handler catches the error. */
  | { readonly kind: 'misused'; readonly error: HandlerError }
  /** The client has to answer questions before the call continues. */
  | { readonly kind: 'asked'; readonly questions: ReadonlyMap<string, AskedQuestion> }
  /** The handler ended before a suspension, and no end of a higher rank was set. Or its questions were dropped. */
  | { readonly kind: 'finished' }
  /** The call continues as a task. */
  | { readonly kind: 'became_task' }
  /** The call continues at another instance. */
  | { readonly kind: 'handed_off'; readonly reason: HandOffReason }
  /** The handler runs again at once, because every step ends a run in strict replay. */
  | { readonly kind: 'restarted' }

/**
 * The ranks of ends, for a run in which several occur. The end with the highest rank wins. Of two ends with the same
 * rank, the first one wins. `asked` outranks `finished`, because a handler that threw after its question may have thrown
 * for lack of the answer. (For a handler that returned, `settleRun` decides: the run is misused, or its questions
 * are dropped.) `finished` outranks `became_task` and `handed_off`, because a handler that has finished needs neither a
 * task nor another instance. Only `Run.dropQuestions` replaces an end by one of a lower rank.
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

/** Returns the end of a run that has one end, if any, and gets another: the one of the higher rank, else the first. */
export function higherEnd(end: RunEnd | undefined, proposedEnd: RunEnd): RunEnd {
  return end === undefined || endRanks[proposedEnd.kind] > endRanks[end.kind] ? proposedEnd : end
}
