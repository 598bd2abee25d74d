import { isCancelled } from '@x/core'
import { allowUnawaited } from '../request/awaitable.ts'
import { rememberAuthorFrames } from './author-frames.ts'
import { HandlerError } from './handler-error.ts'
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

/** Returns the stack frames of the author's code that started a question or step. Undefined if they were not stored. */
export function authorFramesOf(run: Run, { description }: StartedUse): string | undefined {
  return run.request.settings.authorFrames.get(callKeyOf(run, description))
}

/** Returns a key of bounded length: the name may be a URI of a client. */
function callKeyOf({ name }: Run, description: string): string {
  return `${name.slice(0, 140)} ${description}`
}
