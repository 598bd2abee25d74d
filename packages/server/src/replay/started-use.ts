/** A question or a step that a handler has started. */
export interface StartedUse {
  readonly isQuestion: boolean
  /** The call as error messages show it, such as `ctx.step("charge")`. */
  readonly description: string
  /** True once the handler waits for the promise, directly or through a function such as `Promise.all`. */
  isAwaited: boolean
  isSettled: boolean
  /** The error with which the promise was rejected. Undefined if it was not rejected. */
  failure: { readonly error: unknown } | undefined
  /**
   * An object with the stack of the `ctx` call, on platforms that can capture a stack. Undefined once an awaited
   * promise is fulfilled.
   */
  callSite: { readonly stack?: string } | undefined
}

/**
 * A promise that records when something waits for it. It has to be a subclass: `await` calls `then` only on a subclass,
 * and does not call any method of a plain promise.
 */
class UsePromise<T> extends Promise<T> {
  use: StartedUse | undefined

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

interface UseDescription {
  readonly functionName: string
  /** The key that the handler gave. It may be any value in a program without types. */
  readonly key: unknown
}

/**
 * Returns a record of a started question or step, and the promise for the handler. An unhandled rejection of that
 * promise does not end the process.
 */
export function startUse<T>(
  source: Promise<T>,
  { functionName, key }: UseDescription,
): { readonly use: StartedUse; readonly promise: Promise<T> } {
  const use: StartedUse = {
    isQuestion: functionName !== 'ctx.step',
    description: `${functionName}(${typeof key === 'string' ? JSON.stringify(key.slice(0, 140)) : '…'})`,
    isAwaited: false,
    isSettled: false,
    failure: undefined,
    callSite: captureCallSite(),
  }
  const promise = new UsePromise<T>((resolve, reject) => {
    source.then(
      (value) => {
        use.isSettled = true
        // The stack is no longer needed, and a loop may have thousands of steps.
        if (use.isAwaited) use.callSite = undefined
        resolve(value)
      },
      (error: unknown) => {
        use.isSettled = true
        use.failure = { error }
        reject(error)
      },
    )
  })
  // Prevents an unhandled rejection, which would end the process, when the handler does not await the promise.
  promise.catch(() => {})
  promise.use = use
  use.isAwaited = false
  return { use, promise }
}

const captureStackTrace: unknown = Reflect.get(Error, 'captureStackTrace')

/**
 * The number of stack frames that belong to this package: the member of the context, and the function that tracks its
 * promise.
 */
const contextFrameCount = 2

/** The number of stack frames of the author in an error. Each frame adds about a microsecond to a step or question. */
const authorFrameCount = 2

/** Captures the current stack. The text of the stack is created only when it is read. */
function captureCallSite(): { readonly stack?: string } {
  const callSite: { readonly stack?: string } = {}
  if (typeof captureStackTrace !== 'function') return callSite
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = Math.min(stackTraceLimit, contextFrameCount + authorFrameCount)
  captureStackTrace(callSite, startUse)
  Error.stackTraceLimit = stackTraceLimit
  return callSite
}

/** Returns the stack frames of the author, without the frames of this package that precede them. */
export function authorFramesOf({ callSite }: StartedUse): string | undefined {
  const frames = callSite?.stack?.split('\n').filter((line) => /^\s+at /.test(line))
  return frames === undefined || frames.length <= contextFrameCount
    ? undefined
    : frames.slice(contextFrameCount).join('\n')
}
