import { quoteName } from '@x/core'
import { type Awaitable, mapAwaitable, waitForImmediate } from '../request/awaitable.ts'
import { reportServerError, logContextOf } from '../request/report.ts'
import { HandlerError, type HandlerProblem, isSuspension } from './handler-error.ts'
import type { Run, RunOutcome, StartedUse } from './run.ts'

/**
 * Starts a question or step: records it in the run, and returns the promise for the handler. An unhandled rejection of
 * that promise does not end the process. `key` may be any value in a program without types.
 */
export function startUse<T>(run: Run, functionName: string, key: unknown, source: Promise<T>): Promise<T> {
  const description = `${functionName}(${typeof key === 'string' ? JSON.stringify(key.slice(0, 140)) : '…'})`
  rememberAuthorFrames(run, description)
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
        reject(error)
      },
    )
  })
  // Prevents an unhandled rejection, which would end the process, when the handler does not await the promise.
  promise.catch(() => {})
  promise.use = use
  use.isAwaited = false
  run.addStartedUse(use)
  return promise
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
 * Waits for steps that still run after their handler has ended. Fails the call if the handler returned without waiting
 * for a question, or for a step that fails. Otherwise the error of the step would be lost after the reply.
 */
export function finishStartedUses(run: Run, outcome: RunOutcome<unknown>): Awaitable<void> {
  if (run.startedUses === undefined) return undefined
  return 'returned' in outcome ? finishReturnedUses(run, run.startedUses) : finishThrownUses(run, run.startedUses)
}

function finishReturnedUses(run: Run, uses: readonly StartedUse[]): Awaitable<void> {
  const settledUses = new Set(uses.filter(({ isSettled }) => isSettled))
  const startedCount = uses.length
  rejectUnawaitedUses(run, uses, settledUses)
  return mapAwaitable(waitUntilIdle(run), () => {
    const failedUses = uses.filter((use) => !use.isAwaited || !settledUses.has(use)).filter(hasFailed)
    for (const use of failedUses) {
      // This question or step has already made the call fail.
      if (run.end?.kind === 'misused' && (use.isQuestion || use.failure?.error === run.end.error)) continue
      const error = createFailedUseError(run, use)
      if (run.end?.kind === 'misused') reportUseError(run, error)
      else run.fail(error)
    }
    // Code that still ran after the handler returned may have asked a question. Earlier questions have passed the check,
    // and a suspension since then did not reach the handler.
    rejectUnawaitedUses(run, uses, settledUses, uses.slice(startedCount))
    // A question can still be open here if the handler caught the failure of a parallel question or step. Its answer
    // would not change the result.
    run.dropQuestions()
    run.clearStartedUses()
  })
}

/**
 * Ends the run of a handler that threw. Waits for the steps that still run, and logs the errors that the handler did
 * not await. No further step can begin.
 */
function finishThrownUses(run: Run, uses: readonly StartedUse[]): Awaitable<void> {
  // A run whose journal could not be stored is over already. It waits for no step, because nothing more is recorded.
  if (run.wasStopped || run.isOver) return undefined
  run.close()
  return mapAwaitable(run.hasPendingWork ? waitForAllWork(run) : undefined, () => {
    for (const use of uses) if (!use.isAwaited && hasFailed(use)) reportUseError(run, createFailedUseError(run, use))
    run.clearStartedUses()
  })
}

/** Waits for the steps that run, and for the steps that begin meanwhile. Returns undefined if no step runs. */
function waitUntilIdle(run: Run): Promise<void> | undefined {
  if (!run.hasPendingWork || run.isOver) return undefined
  run.proposeFinished()
  return waitForAllWork(run)
}

async function waitForAllWork(run: Run): Promise<void> {
  while (run.hasPendingWork) {
    await run.waitForWork()
    await waitForImmediate()
  }
}

const awaitAdvice = 'await every question and step'

function rejectUnawaitedUses(
  run: Run,
  uses: readonly StartedUse[],
  settledUses: ReadonlySet<StartedUse>,
  checkedUses = uses,
): void {
  const lastCaughtIndex = lastCaughtIndexOf(uses)
  for (const use of checkedUses) {
    const hasCaughtFailure = lastCaughtIndex >= use.failuresBefore
    const isLeft = use.isQuestion
      ? isQuestionLeft(run, use, hasCaughtFailure || settledUses.has(use))
      : run.isStrict && !(use.isAwaited && settledUses.has(use))
    if (isLeft) {
      const reason = `${quoteName(run.name)} returned without waiting for ${use.description}: ${awaitAdvice}`
      run.fail(createUseError(run, use, 'unawaited', reason))
    } else if (isSuspensionSwallowed(run, use)) {
      const advice = 'throw an error again for which isSuspension(error) is true'
      const reason = `${quoteName(run.name)} caught the suspension of ${use.description} and returned: ${advice}`
      run.fail(createUseError(run, use, 'swallowed', reason))
    }
  }
}

/** Returns the place of the last failure that the handler has caught. Returns -1 if there is none. */
function lastCaughtIndexOf(uses: readonly StartedUse[]): number {
  let lastIndex = -1
  for (const use of uses) {
    if (use.isAwaited && hasFailed(use)) lastIndex = Math.max(lastIndex, use.failure?.index ?? lastIndex)
  }
  return lastIndex
}

/**
 * Returns true if the handler returned without waiting for a question. A handler that caught a failure does not have to
 * wait for the questions that were open when it failed.
 */
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
function createUseError(run: Run, use: StartedUse, code: HandlerProblem, reason: string): HandlerError {
  const error = new HandlerError(code, reason)
  const frames = authorFramesOf(run, use)
  if (frames !== undefined) error.stack = `${error.name}: ${reason}\n${frames}`
  return error
}

function reportUseError({ request, name }: Run, error: HandlerError): void {
  reportServerError(error, logContextOf(request, name), request.settings)
}

const captureStackTrace: unknown = Reflect.get(Error, 'captureStackTrace')

/** The number of frames at the top of a stack that belong to this package: the function of the context. */
const contextFrameCount = 1

/** The number of frames of the author's code that an error shows. */
const authorFrameCount = 2

/**
 * The maximum number of calls of `ctx` functions for which one server stores stack frames. The errors of further calls
 * name the call, and show no frames.
 */
const maxRememberedCalls = 1000

/**
 * The stack frames of the author's code that started questions and steps, by server and by call. The settings object
 * identifies the server. The key of a call contains the name of the handler and the description of the call.
 */
const framesByServer = new WeakMap<object, Map<string, string | undefined>>()

/**
 * Stores the stack frames of a call when its server makes it for the first time. Later calls with the same key come
 * from the same line of the handler. A capture of frames takes as long as the rest of a step.
 */
function rememberAuthorFrames(run: Run, description: string): void {
  const { settings } = run.request
  const framesByCall = framesByServer.get(settings) ?? new Map<string, string | undefined>()
  if (framesByCall.size === 0) framesByServer.set(settings, framesByCall)
  const callKey = callKeyOf(run, description)
  if (framesByCall.size >= maxRememberedCalls || framesByCall.has(callKey)) return
  framesByCall.set(callKey, captureAuthorFrames())
}

/**
 * Returns the stack frames of the author's code, without those of this package. Undefined on a platform that captures
 * no stack.
 */
function captureAuthorFrames(): string | undefined {
  if (typeof captureStackTrace !== 'function') return undefined
  const captured: { readonly stack?: string } = {}
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = Math.min(stackTraceLimit, contextFrameCount + authorFrameCount)
  captureStackTrace(captured, startUse)
  Error.stackTraceLimit = stackTraceLimit
  const frames = captured.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? []
  return frames.length <= contextFrameCount ? undefined : frames.slice(contextFrameCount).join('\n')
}

/** Returns the stack frames of the author's code that started a question or step. Undefined if they were not stored. */
export function authorFramesOf(run: Run, { description }: StartedUse): string | undefined {
  return framesByServer.get(run.request.settings)?.get(callKeyOf(run, description))
}

/** Returns a key of bounded length: the name may be a URI of a client. */
function callKeyOf({ name }: Run, description: string): string {
  return `${name.slice(0, 140)} ${description}`
}
