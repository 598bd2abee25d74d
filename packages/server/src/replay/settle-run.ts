import { quoteName } from '@x/core'
import { mapAwaitable, type Awaitable, waitForImmediate } from '../request/awaitable.ts'
import { reportServerError, logContextOf } from '../request/report.ts'
import { HandlerError, type HandlerErrorCode, isSuspension } from './handler-error.ts'
import type { Run, RunOutcome, StartedUse } from './run.ts'
import { authorFramesOf } from './started-uses.ts'
import { warnAboutRun } from './warnings.ts'

/**
 * Closes a run whose handler has returned or thrown, and waits for the steps that still run. So their results are
 * recorded, and a later run does not repeat them.
 *
 * A handler that returned without waiting for a question, or for a step that fails, makes the call fail: otherwise the
 * error of the step would be lost after the reply. Therefore the run is closed after the wait. Steps can begin
 * meanwhile, and a question fails the call. The run of a handler that threw is closed at once, and nothing can begin.
 */
export function settleRun(run: Run, outcome: RunOutcome<unknown>): Awaitable<void> {
  const uses = run.startedUses
  // Most handlers start neither a question nor a step.
  if (uses === undefined) return closeRun(run)
  if ('returned' in outcome) {
    const completeCheck = checkUsesAtReturn(run, uses)
    return mapAwaitable(waitBeforeClose(run), () => {
      completeCheck()
      // A question can still be open here if the handler caught the failure of a parallel question or step. Its answer
      // would not change the result.
      run.dropQuestions()
      return closeRun(run)
    })
  }
  return mapAwaitable(closeRun(run), () => {
    // Otherwise the errors reach the handler in its next run, or the journal could not be stored.
    if (run.end?.kind === 'finished' || run.end?.kind === 'misused') reportFailedUses(run, uses)
  })
}

/** Closes a run, and waits for its steps, so that their results are recorded. */
function closeRun(run: Run): Awaitable<void> {
  run.close()
  return waitForSteps(run)
}

/**
 * Waits for steps while the run of a handler that returned is open. The run has the end `finished` meanwhile, so that
 * the end of a step neither hands the call off nor restarts it.
 */
function waitBeforeClose(run: Run): Awaitable<void> {
  if (run.isOver) return undefined
  run.proposeFinished()
  return waitForSteps(run)
}

/**
 * Waits for the steps that run, for the answers that are parsed, and for the steps that begin meanwhile. Does not wait
 * if the journal could not be stored, because nothing more is recorded then.
 */
function waitForSteps(run: Run): Awaitable<void> {
  if (!run.hasPendingWork || run.end?.kind === 'store_failed') return undefined
  // The promises of the handler are settled in the same turn of the event loop, after the work.
  return run
    .waitForWork()
    .then(waitForImmediate)
    .then<void>(() => waitForSteps(run))
}

/**
 * Checks the questions and steps of a handler that returned. Returns the function that completes the check once no step
 * runs any more.
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
function checkUsesAtReturn(run: Run, uses: readonly StartedUse[]): () => void {
  const settledUses = new Set(uses.filter(({ isSettled }) => isSettled))
  const startedCount = uses.length
  checkLeftUses(run, uses, settledUses)
  return () => {
    checkFailedUses(run, uses, settledUses)
    // Code that still ran after the handler returned may have asked a question. Earlier questions have passed the check,
    // and a suspension since then did not reach the handler.
    checkLeftUses(run, uses, settledUses, uses.slice(startedCount))
  }
}

/** Logs the errors of questions and steps that the handler, which threw another error, did not await. */
function reportFailedUses(run: Run, uses: readonly StartedUse[]): void {
  for (const use of uses) {
    // A step that succeeded after the run was closed has its result recorded. Only its promise is rejected.
    const hasSucceeded = use.failure?.error instanceof HandlerError && use.failure.error.code === 'ended'
    if (!use.isAwaited && hasFailed(use) && !hasSucceeded) reportUseError(run, createFailedUseError(run, use))
  }
}

const awaitAdvice = 'await every question and step'

/** Fails the call for a use that failed after the handler returned, or that the handler did not await. */
function checkFailedUses(run: Run, uses: readonly StartedUse[], settledUses: ReadonlySet<StartedUse>): void {
  const lastCaughtIndex = lastCaughtIndexOf(settledUses)
  for (const use of uses) {
    warnUnawaitedStep(run, use)
    const isNoticed = use.isAwaited && settledUses.has(use)
    if (isNoticed || !hasFailed(use) || hasFailedCall(run, use)) continue
    const error = createFailedUseError(run, use)
    const isExcused = use.isAwaited && lastCaughtIndex >= use.failuresBefore
    if (isExcused || run.end?.kind === 'misused') reportUseError(run, error)
    else run.fail(error)
  }
}

/** Warns of a step that succeeded unawaited: the result may contain the promise instead of its value. */
function warnUnawaitedStep(run: Run, { isQuestion, isAwaited, failure, description }: StartedUse): void {
  if (isQuestion || isAwaited || failure !== undefined) return
  warnAboutRun(run, 'unawaited', `returned without waiting for ${description}: ${awaitAdvice}`)
}

/** Returns true if a failed question or step has already made the call fail. */
function hasFailedCall({ end }: Run, { isQuestion, failure }: StartedUse): boolean {
  return end?.kind === 'misused' && (isQuestion || failure?.error === end.error)
}

/** Fails the call for a question that the handler did not await, or whose suspension it swallowed. */
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
      const reason = `${quoteName(run.name)} returned without waiting for ${use.description}: ${awaitAdvice}`
      run.fail(createUseError(run, use, 'unawaited', reason))
    } else if (!isExcused && isSuspensionSwallowed(run, use)) {
      const advice = 'throw an error again for which isSuspension(error) is true'
      const reason = `${quoteName(run.name)} caught the suspension of ${use.description} and returned: ${advice}`
      run.fail(createUseError(run, use, 'swallowed', reason))
    }
  }
}

/** Returns the place of the last failure that the handler has caught. Returns -1 if there is none. */
function lastCaughtIndexOf(uses: Iterable<StartedUse>): number {
  let lastIndex = -1
  for (const use of uses) {
    if (use.isAwaited && hasFailed(use)) lastIndex = Math.max(lastIndex, use.failure?.index ?? lastIndex)
  }
  return lastIndex
}

/** Returns true if the handler returned without waiting for a question. */
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
  const reason = `${use.description} of ${quoteName(run.name)} failed, and its handler did not wait for it: ${awaitAdvice}`
  const error = createUseError(run, use, 'unawaited', reason)
  error.cause = use.failure?.error
  return error
}

/** Creates an error whose stack begins at the author's call of the question or step. */
function createUseError(run: Run, use: StartedUse, code: HandlerErrorCode, reason: string): HandlerError {
  const error = new HandlerError(code, reason)
  const frames = authorFramesOf(run, use)
  if (frames !== undefined) error.stack = `${error.name}: ${reason}\n${frames}`
  return error
}

function reportUseError({ request, name }: Run, error: HandlerError): void {
  reportServerError(error, logContextOf(request, name), request.settings)
}
