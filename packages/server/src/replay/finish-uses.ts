import { quoteName } from '@x/core'
import { type Awaitable, mapAwaitable, waitForImmediate } from '../request/awaitable.ts'
import { reportServerError, logContextOf } from '../request/report.ts'
import { HandlerError, type HandlerProblem, isSuspension } from './handler-error.ts'
import {
  askedQuestionsOf,
  dropQuestions,
  endRun,
  failRunWith,
  isStopping,
  markHandlerDone,
  type Run,
  waitForPendingWork,
} from './run.ts'
import { authorFramesOf, type StartedUse, startUse } from './started-use.ts'

/** Returns the promise of a question or step for the handler, and notes whether the handler waits for it. */
export function trackUse<T>(
  run: Run,
  source: Promise<T>,
  description: { readonly functionName: string; readonly key: unknown },
): Promise<T> {
  const { use, promise } = startUse(source, description)
  if (run.phase === 'running') (run.startedUses ??= []).push(use)
  return promise
}

/**
 * Waits for the steps that a handler left running. Fails a run whose handler returned without waiting for a question or
 * for a step that fails: an effect would otherwise happen behind the reply, and its error would be lost.
 */
export function finishStartedUses(
  run: Run,
  outcome: { readonly thrown: unknown } | { readonly returned: unknown },
): Awaitable<void> {
  if (run.startedUses === undefined) return undefined
  return 'returned' in outcome ? finishReturnedUses(run, run.startedUses) : finishThrownUses(run, run.startedUses)
}

function finishReturnedUses(run: Run, uses: StartedUse[]): Awaitable<void> {
  const settledUses = new Set(uses.filter(({ isSettled }) => isSettled))
  rejectUnawaitedUses(run, uses, settledUses)
  return mapAwaitable(waitUntilIdle(run), () => {
    const failedUses = uses.filter((use) => !use.isAwaited || !settledUses.has(use)).filter(hasFailed)
    for (const use of failedUses) {
      // The call has failed because of this use already.
      if (run.end?.kind === 'misused' && (use.isQuestion || use.failure?.error === run.end.error)) continue
      const error = createFailedUseError(run, use)
      if (run.end?.kind === 'misused') reportUseError(run, error)
      else failRunWith(run, error)
    }
    // Code that ran behind the return may have asked meanwhile.
    rejectUnawaitedUses(run, uses, settledUses)
    // A question that is open beside a failure which the handler has caught: its answer would not count.
    dropQuestions(run)
    run.startedUses = undefined
  })
}

/** A handler that threw has failed with that error. Its other steps end before the reply, and no further one begins. */
function finishThrownUses(run: Run, uses: StartedUse[]): Awaitable<void> {
  if (isStopping(run)) return undefined
  endRun(run)
  return mapAwaitable(run.pendingWorkCount === 0 ? undefined : waitForAllWork(run), () => {
    for (const use of uses) if (!use.isAwaited && hasFailed(use)) reportUseError(run, createFailedUseError(run, use))
    run.startedUses = undefined
  })
}

/** Undefined when no step runs. A step that begins behind another one is waited for as well. */
function waitUntilIdle(run: Run): Promise<void> | undefined {
  if (run.pendingWorkCount === 0 || run.phase !== 'running') return undefined
  markHandlerDone(run)
  return waitForAllWork(run)
}

async function waitForAllWork(run: Run): Promise<void> {
  while (run.pendingWorkCount > 0) {
    await waitForPendingWork(run)
    await waitForImmediate()
  }
}

const awaitAdvice = 'await every question and step'

function rejectUnawaitedUses(run: Run, uses: readonly StartedUse[], settledUses: ReadonlySet<StartedUse>): void {
  const hasCaughtFailure = uses.some((use) => use.isAwaited && hasFailed(use))
  for (const use of uses) {
    const isLeft = use.isQuestion
      ? isQuestionLeft(run, use, hasCaughtFailure || settledUses.has(use))
      : run.isReplayStrict && !(use.isAwaited && settledUses.has(use))
    if (isLeft) {
      const reason = `${quoteName(run.name)} returned without waiting for ${use.description}: ${awaitAdvice}`
      failRunWith(run, createUseError('unawaited', use, reason))
    } else if (isSuspensionSwallowed(run, use)) {
      const advice = 'throw an error again for which isSuspension(error) is true'
      const reason = `${quoteName(run.name)} caught the suspension of ${use.description} and returned: ${advice}`
      failRunWith(run, createUseError('swallowed', use, reason))
    }
  }
}

/** A refusal, or another failure, that the handler has caught ends its wait for what it started beside it. */
function isQuestionLeft(run: Run, use: StartedUse, isWaitOver: boolean): boolean {
  return !use.isAwaited || (askedQuestionsOf(run) !== undefined && !isWaitOver)
}

function isSuspensionSwallowed(run: Run, { isQuestion, failure }: StartedUse): boolean {
  return isQuestion && askedQuestionsOf(run) !== undefined && isSuspension(failure?.error)
}

function hasFailed({ failure }: StartedUse): boolean {
  return failure !== undefined && !isSuspension(failure.error)
}

function createFailedUseError(run: Run, use: StartedUse): HandlerError {
  const reason = `${use.description} of ${quoteName(run.name)} failed, and its handler did not wait for it: ${awaitAdvice}`
  const error = createUseError('unawaited', use, reason)
  error.cause = use.failure?.error
  return error
}

/** Creates an error whose stack begins at the author's call of the question or step. */
function createUseError(code: HandlerProblem, use: StartedUse, message: string): HandlerError {
  const error = new HandlerError(code, message)
  const frames = authorFramesOf(use)
  if (frames !== undefined) error.stack = `${error.name}: ${message}\n${frames}`
  return error
}

function reportUseError({ request, name }: Run, error: HandlerError): void {
  reportServerError(error, logContextOf(request, name), request.settings)
}
