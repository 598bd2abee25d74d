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
import { authorFramesOf, type StartedUse, startUse, type UseDescription } from './started-use.ts'

/**
 * Returns the promise that a handler receives for a question or step. Records whether the handler awaits this promise.
 */
export function trackUse<T>(
  run: Run,
  source: Promise<T>,
  description: Pick<UseDescription, 'functionName' | 'key'>,
): Promise<T> {
  const { use, promise } = startUse(source, { server: run.request.settings, handlerName: run.name, ...description })
  if (run.phase === 'running') (run.startedUses ??= []).push(use)
  return promise
}

/**
 * Waits for steps that still run after their handler has ended. Fails the call if the handler returned without waiting
 * for a question, or for a step that fails. Otherwise the error of the step would be lost after the reply.
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
      // This question or step has already made the call fail.
      if (run.end?.kind === 'misused' && (use.isQuestion || use.failure?.error === run.end.error)) continue
      const error = createFailedUseError(run, use)
      if (run.end?.kind === 'misused') reportUseError(run, error)
      else failRunWith(run, error)
    }
    // Code that still ran after the handler returned may have asked a question.
    rejectUnawaitedUses(run, uses, settledUses)
    // A question can still be open here if the handler caught the failure of a parallel question or step. Its answer
    // would not change the result.
    dropQuestions(run)
    run.startedUses = undefined
  })
}

/**
 * Ends the run of a handler that threw. Waits for the steps that still run, and logs the errors that the handler did
 * not await. No further step can begin.
 */
function finishThrownUses(run: Run, uses: StartedUse[]): Awaitable<void> {
  if (isStopping(run)) return undefined
  endRun(run)
  return mapAwaitable(run.pendingWorkCount === 0 ? undefined : waitForAllWork(run), () => {
    for (const use of uses) if (!use.isAwaited && hasFailed(use)) reportUseError(run, createFailedUseError(run, use))
    run.startedUses = undefined
  })
}

/** Waits for the steps that run, and for the steps that begin meanwhile. Returns undefined if no step runs. */
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
      failRunWith(run, createUseError(run, use, { code: 'unawaited', reason }))
    } else if (isSuspensionSwallowed(run, use)) {
      const advice = 'throw an error again for which isSuspension(error) is true'
      const reason = `${quoteName(run.name)} caught the suspension of ${use.description} and returned: ${advice}`
      failRunWith(run, createUseError(run, use, { code: 'swallowed', reason }))
    }
  }
}

/**
 * Returns true if the handler returned without waiting for a question. A handler that caught a failure does not have to
 * wait for the questions that it asked in parallel.
 */
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
  const error = createUseError(run, use, { code: 'unawaited', reason })
  error.cause = use.failure?.error
  return error
}

/** Creates an error whose stack begins at the author's call of the question or step. */
function createUseError(
  run: Run,
  use: StartedUse,
  { code, reason }: { readonly code: HandlerProblem; readonly reason: string },
): HandlerError {
  const error = new HandlerError(code, reason)
  const frames = authorFramesOf(run.request.settings, run.name, use)
  if (frames !== undefined) error.stack = `${error.name}: ${reason}\n${frames}`
  return error
}

function reportUseError({ request, name }: Run, error: HandlerError): void {
  reportServerError(error, logContextOf(request, name), request.settings)
}
