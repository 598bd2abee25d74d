/** A question or a step that a handler has started. */
export interface StartedUse {
  readonly isQuestion: boolean
  /** The call, for messages, such as `ctx.step("charge")`. */
  readonly description: string
  /** True once the handler waits for its promise, directly or through `Promise.all` and its like. */
  isAwaited: boolean
  isSettled: boolean
  /** The rejection of its promise. */
  failure: { readonly error: unknown } | undefined
  /** Has the stack of the call, on platforms that capture one, undefined once it is of no use. */
  callSite: { readonly stack?: string } | undefined
}

/**
 * A promise of a use, which notes that it is waited for. `await` reads `then` of a subclass only: a plain promise is
 * awaited without any call that could be observed.
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
  /** The key. A program without types may give any value. */
  readonly key: unknown
}

/** Returns the use of a started promise, and the promise for the handler, whose rejection never ends the process. */
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
        // A loop may have thousands of steps.
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
  // A handler that does not wait for what it started must not end the process, and with it the calls of others.
  promise.catch(() => {})
  promise.use = use
  use.isAwaited = false
  return { use, promise }
}

const captureStackTrace: unknown = Reflect.get(Error, 'captureStackTrace')

/** The member of the context, and the function that tracks its promise. */
const contextFrameCount = 2

/** Frames of the author that a failure shows. Each frame costs a use about a microsecond. */
const authorFrameCount = 2

/** Captures the stack without its text, which is written when it is read. */
function captureCallSite(): { readonly stack?: string } {
  const callSite: { readonly stack?: string } = {}
  if (typeof captureStackTrace !== 'function') return callSite
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = Math.min(stackTraceLimit, contextFrameCount + authorFrameCount)
  captureStackTrace(callSite, startUse)
  Error.stackTraceLimit = stackTraceLimit
  return callSite
}

/** Returns the frames of the author, without those of the context, which come first. */
export function authorFramesOf({ callSite }: StartedUse): string | undefined {
  const frames = callSite?.stack?.split('\n').filter((line) => /^\s+at /.test(line))
  return frames === undefined || frames.length <= contextFrameCount
    ? undefined
    : frames.slice(contextFrameCount).join('\n')
}
