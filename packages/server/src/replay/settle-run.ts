import { quoteText } from '@x/core'
import { isSuspension } from '@x/exchange/internal'
import { describeType } from '../request/json-copy.ts'
import { authorFramesOf, type StartedUse } from './context-uses.ts'
import { HandlerError, type HandlerErrorCode } from './handler-error.ts'
import type { RunOutcome } from './handler.ts'
import type { Run } from './run.ts'

/**
 * Closes a run whose handler has returned or thrown, and waits for the steps that still run, because a recorded result
 * spares a later run the work.
 *
 * If the handler returned without waiting for a question, or for a step that fails, the call fails; otherwise the
 * step's error would be lost after the reply. That is why the run is closed only after the wait: steps can begin
 * meanwhile, and a question fails the call. If the handler threw, the run is closed at once, and nothing can begin.
 *
 * What the settled run shows then becomes a warning for the author.
 */
export function settleRun(run: Run, outcome: RunOutcome<unknown>): Promise<void> | undefined {
  const uses = run.existingUses?.started
  if (uses !== undefined && uses.length > 0) return settleUses(run, outcome, uses)
  // Most handlers start neither a question nor a step, and leave no work.
  const pendingWork = closeRun(run)
  warnAfterSettling(run, outcome)
  return pendingWork
}

async function settleUses(run: Run, outcome: RunOutcome<unknown>, uses: readonly StartedUse[]): Promise<void> {
  await ('thrown' in outcome ? settleThrown(run, uses) : settleReturned(run, uses))
  warnAfterSettling(run, outcome)
}

async function settleThrown(run: Run, uses: readonly StartedUse[]): Promise<void> {
  const pendingWork = closeRun(run)
  if (pendingWork !== undefined) await pendingWork
  // With any other end, the errors reach the handler in its next run, or the journal could not be stored.
  if (run.end?.kind !== 'finished' && run.end?.kind !== 'misused') return
  for (const use of uses) {
    if (use.isAwaited || !hasFailed(use) || hasOnlyEnded(use)) continue
    const error = createFailedUseError(run, use)
    run.report(error)
  }
}

function closeRun(run: Run): Promise<void> | undefined {
  run.close()
  return run.finishWork()
}

/** True for a step that succeeded after the run was closed: its result is recorded and only its promise is rejected. */
function hasOnlyEnded({ failure }: StartedUse): boolean {
  return failure?.error instanceof HandlerError && failure.error.code === 'ended'
}

/**
 * Checks the questions and steps of a handler that returned, now and once no step runs any more.
 *
 * | use | the handler | outcome |
 * | --- | --- | --- |
 * | question | does not await it | the call fails: `unawaited` |
 * | open question | returned while it awaited the question | the call fails: `unawaited` |
 * | open question | caught its suspension and returned | the call fails: `swallowed` |
 * | step that fails | does not await it, or returned while it awaited the step | the call fails: `unawaited` |
 * | step that succeeds | does not await it | a warning: the result may contain the promise instead of its value |
 *
 * A handler that caught the failure of a use is excused for those that it started before that failure, as after a
 * `Promise.all` that rejected: its open questions are dropped, and the error of a step that it awaited is logged.
 */
async function settleReturned(run: Run, uses: readonly StartedUse[]): Promise<void> {
  const settledUses = new Set(uses.filter(({ isSettled }) => isSettled))
  const startedCount = uses.length
  checkLeftUses(run, uses, settledUses)
  if (!run.isOver) {
    // Meanwhile the run has the end `finished`, so that the end of a step neither hands the call off nor restarts it.
    run.proposeFinished()
    const pendingWork = run.finishWork()
    if (pendingWork !== undefined) await pendingWork
  }
  checkFailedUses(run, uses, settledUses)
  // Code that still ran after the handler returned may have asked a question. Earlier questions have passed the check,
  // and a suspension since then did not reach the handler.
  checkLeftUses(run, uses, settledUses, uses.slice(startedCount))
  // A question can still be open if the handler caught the failure of a parallel question or step. Its answer would not
  // change the result.
  run.dropQuestions()
  await closeRun(run)
}

const awaitAdvice = 'await every question and step'
const rethrowAdvice = 'throw an error again for which isSuspension(error) is true'

function checkFailedUses(run: Run, uses: readonly StartedUse[], settledUses: ReadonlySet<StartedUse>): void {
  const lastCaughtIndex = lastCaughtIndexOf(settledUses)
  for (const use of uses) {
    warnUnawaitedStep(run, use)
    const isNoticed = use.isAwaited && settledUses.has(use)
    if (isNoticed || !hasFailed(use) || hasFailedCall(run, use)) continue
    const error = createFailedUseError(run, use)
    const isExcused = use.isAwaited && lastCaughtIndex >= use.failuresBefore
    if (isExcused || run.end?.kind === 'misused') run.report(error)
    else run.fail(error)
  }
}

function warnUnawaitedStep(run: Run, { isQuestion, isAwaited, failure, description }: StartedUse): void {
  if (isQuestion || isAwaited || failure !== undefined) return
  run.warn('unawaited', `returned without waiting for ${description}: ${awaitAdvice}`)
}

function hasFailedCall({ end }: Run, { isQuestion, failure }: StartedUse): boolean {
  return end?.kind === 'misused' && (isQuestion || failure?.error === end.error)
}

function checkLeftUses(
  run: Run,
  uses: readonly StartedUse[],
  settledUses: ReadonlySet<StartedUse>,
  checkedUses = uses,
): void {
  const lastCaughtIndex = lastCaughtIndexOf(uses)
  for (const use of checkedUses) {
    const isExcused = lastCaughtIndex >= use.failuresBefore
    const isLeft = use.isQuestion
      ? isQuestionLeft(run, use, isExcused || settledUses.has(use))
      : run.isStrict && !(use.isAwaited && settledUses.has(use))
    if (isLeft) {
      const reason = `${quoteText(run.name)} returned without waiting for ${use.description}: ${awaitAdvice}`
      run.fail(createUseError(run, use, 'unawaited', reason))
    } else if (!isExcused && isSuspensionSwallowed(run, use)) {
      const reason = `${quoteText(run.name)} caught the suspension of ${use.description} and returned: ${rethrowAdvice}`
      run.fail(createUseError(run, use, 'swallowed', reason))
    }
  }
}

function lastCaughtIndexOf(uses: Iterable<StartedUse>): number {
  let lastIndex = -1
  for (const use of uses) {
    if (use.isAwaited && hasFailed(use)) lastIndex = Math.max(lastIndex, use.failure?.index ?? lastIndex)
  }
  return lastIndex
}

function isQuestionLeft(run: Run, use: StartedUse, isWaitOver: boolean): boolean {
  return !use.isAwaited || (run.askedQuestions !== undefined && !isWaitOver)
}

function isSuspensionSwallowed(run: Run, { isQuestion, failure }: StartedUse): boolean {
  return isQuestion && run.askedQuestions !== undefined && isSuspension(failure?.error)
}

function hasFailed({ failure }: StartedUse): boolean {
  return failure !== undefined && !isSuspension(failure.error)
}

function createFailedUseError(run: Run, use: StartedUse): HandlerError {
  const reason = `${use.description} of ${quoteText(run.name)} failed, and its handler did not wait for it: ${awaitAdvice}`
  const error = createUseError(run, use, 'unawaited', reason)
  error.cause = use.failure?.error
  return error
}

/** The stack begins where the author's code called the question or step. */
function createUseError(run: Run, use: StartedUse, code: HandlerErrorCode, reason: string): HandlerError {
  const error = new HandlerError(code, reason)
  const frames = authorFramesOf(run, use)
  if (frames !== undefined) error.stack = `${error.name}: ${reason}\n${frames}`
  return error
}

/**
 * Warns the author of what a settled run shows: a recorded step that it did not reach, or a suspension that the handler
 * caught, for example with `catch {}`.
 */
function warnAfterSettling(run: Run, outcome: RunOutcome<unknown>): void {
  const { end } = run
  if (end?.kind === 'finished') {
    if ('returned' in outcome) warnUnusedStep(run)
  } else if (end?.kind === 'asked' || end?.kind === 'became_task' || end?.kind === 'handed_off') {
    warnSwallowedError(run, outcome)
  }
}

/**
 * Warns of a step that an earlier run made and this one did not reach: its effect has happened, and nothing uses its
 * result. A handler with checkpoints may continue behind its steps.
 */
function warnUnusedStep(run: Run): void {
  // Strict replay compares all uses of its runs.
  const key = run.isStrict ? undefined : run.existingJournal?.findUnusedStep(run.existingUses?.keys)
  if (key === undefined) return
  const problem = `did not reach its step "${key}" when it ran again`
  const advice = 'in each run, decide by the arguments, the answers and the results of steps alone'
  run.warn('not_repeatable', `${problem}: ${advice}`, key)
}

function warnSwallowedError(run: Run, outcome: RunOutcome<unknown>): void {
  // The reason of a cancelled call is no suspension.
  if (run.rejectedEnd === 'cancelled') return
  // A handler that failed on its own before the suspension has hidden nothing.
  if ('thrown' in outcome && (run.closedWhileStopping || isSuspension(outcome.thrown))) return
  const [key] = run.askedQuestions?.keys() ?? []
  const actionDescription =
    key === undefined
      ? `was to ${run.end?.kind === 'became_task' ? 'become a task' : 'move to another instance'}`
      : `asked "${key}"`
  run.warn('swallowed', `${actionDescription} and then ${describeSwallowing(run, outcome)}`, key)
}

function describeSwallowing(run: Run, outcome: RunOutcome<unknown>): string {
  const caught = run.existingUses?.started.find(({ isAwaited, failure }) => isAwaited && isSuspension(failure?.error))
  const end = describeOutcome(outcome)
  if (caught === undefined) return `${end}: ${awaitAdvice}`
  return `caught the suspension of ${caught.description} and ${end}: ${rethrowAdvice}`
}

function describeOutcome(outcome: RunOutcome<unknown>): string {
  if (!('thrown' in outcome)) return 'returned'
  const { thrown } = outcome
  return `threw ${thrown instanceof Error ? `${thrown.name} ${quoteText(thrown.message)}` : describeType(thrown)} instead`
}
