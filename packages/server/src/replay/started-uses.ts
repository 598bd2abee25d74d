import { isCancelled, quoteName } from '@x/core'
import { reportServerError, logContextOf } from '../request/report.ts'
import { HandlerError, type HandlerErrorCode, isSuspension } from './handler-error.ts'
import { allowUnawaited } from '../request/awaitable.ts'
import { rememberAuthorFrames } from './author-frames.ts'
import type { Run, StartedUse } from './run.ts'
import { warnAboutRun } from './warnings.ts'

/**
 * Starts a question or step: records it in the run, and returns the promise for the handler. An unhandled rejection of
 * that promise does not end the process. `key` may be any value in a program without types.
 */
export function startUse<T>(run: Run, functionName: string, key: unknown, source: Promise<T>): Promise<T> {
  const description = `${functionName}(${typeof key === 'string' ? JSON.stringify(key.slice(0, 140)) : '…'})`
  const { authorFrames } = run.request.settings
  const callKey = callKeyOf(run, description)
  if (!authorFrames.has(callKey)) rememberAuthorFrames(authorFrames, callKey, startUse)
  const isQuestion = functionName !== 'ctx.step'
  const use: ObservedUse = {
    isQuestion,
    description,
    isAwaited: false,
    isSettled: false,
    failuresBefore: run.failureCount,
    failure: undefined,
  }
  const promise = new UsePromise<T>((resolve, reject) => {
    source.then(
      (value) => {
        use.isSettled = true
        resolve(value)
      },
      (error: unknown) => {
        use.isSettled = true
        use.failure = { error, index: run.countFailure() }
        warnLateUse(run, description, error)
        reject(error)
      },
    )
  })
  allowUnawaited(promise)
  // From here on, `then` records that the handler awaits the promise.
  promise.use = use
  run.addStartedUse(use)
  return promise
}

/** Warns of a use after the end of its call. Its error reaches only code that awaits it, and none may. */
function warnLateUse(run: Run, description: string, error: unknown): void {
  if (!(error instanceof HandlerError) || error.code !== 'ended' || isCancelled(run.request.call)) return
  warnAboutRun(
    run,
    'unawaited',
    `used ${description} after its call had ended: await everything that the handler starts`,
  )
}

/** A started use, whose state only this file changes. */
type ObservedUse = { -readonly [Member in keyof StartedUse]: StartedUse[Member] }

/**
 * A promise that records when something waits for it. It has to be a subclass: `await` calls `then` only on a subclass,
 * and does not call any method of a plain promise.
 */
class UsePromise<T> extends Promise<T> {
  use: ObservedUse | undefined

  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a promise that observes its own `then`
  override then<R = T, E = never>(
    onFulfilled?: ((value: T) => R | PromiseLike<R>) | null,
    onRejected?: ((reason: unknown) => E | PromiseLike<E>) | null,
  ): Promise<R | E> {
    if (this.use !== undefined) this.use.isAwaited = true
    return super.then(onFulfilled, onRejected)
  }
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
export function checkUsesAtReturn(run: Run, uses: readonly StartedUse[]): () => void {
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
export function reportFailedUses(run: Run, uses: readonly StartedUse[]): void {
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

/** Returns the stack frames of the author's code that started a question or step. Undefined if they were not stored. */
export function authorFramesOf(run: Run, { description }: StartedUse): string | undefined {
  return run.request.settings.authorFrames.get(callKeyOf(run, description))
}

/** Returns a key of bounded length: the name may be a URI of a client. */
function callKeyOf({ name }: Run, description: string): string {
  return `${name.slice(0, 140)} ${description}`
}
