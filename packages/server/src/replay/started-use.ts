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

/** A call of a `ctx` function. */
export interface UseDescription {
  /** An object that stays the same for all calls of one server: its settings. */
  readonly server: object
  /** The name of the tool or prompt, or the URI of the resource, whose handler makes the call. */
  readonly handlerName: string
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
  call: UseDescription,
): { readonly use: StartedUse; readonly promise: Promise<T> } {
  const { functionName, key } = call
  const description = `${functionName}(${typeof key === 'string' ? JSON.stringify(key.slice(0, 140)) : '…'})`
  rememberAuthorFrames(call, description)
  const use: StartedUse = {
    isQuestion: functionName !== 'ctx.step',
    description,
    isAwaited: false,
    isSettled: false,
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

/** The number of stack frames of the author in an error. */
const authorFrameCount = 2

/**
 * The maximum number of calls of one server whose frames are remembered. Beyond them an error names the call without its
 * frames.
 */
const maxRememberedCalls = 1000

/**
 * The places in the handlers of each server where questions and steps were started, as stack frames. The key of a place
 * contains the name of the handler and the description of the call.
 */
const framesByServer = new WeakMap<object, Map<string, string | undefined>>()

/**
 * Captures the frames of a call when a server makes it for the first time. Later calls with the same key are at the same
 * place of the handler, and a capture takes as long as the rest of a step.
 */
function rememberAuthorFrames({ server, handlerName }: UseDescription, description: string): void {
  const framesByCall = framesByServer.get(server) ?? new Map<string, string | undefined>()
  if (framesByCall.size === 0) framesByServer.set(server, framesByCall)
  const callKey = callKeyOf(handlerName, description)
  if (framesByCall.size >= maxRememberedCalls || framesByCall.has(callKey)) return
  framesByCall.set(callKey, captureAuthorFrames())
}

/** Returns the frames of the author, without those of this package. Undefined on a platform that captures no stack. */
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

/** Returns the stack frames of the author that made a call at a server, if they were remembered. */
export function authorFramesOf(server: object, handlerName: string, { description }: StartedUse): string | undefined {
  return framesByServer.get(server)?.get(callKeyOf(handlerName, description))
}

/** Returns a key of bounded length: the name may be a URI of a client. */
function callKeyOf(handlerName: string, description: string): string {
  return `${handlerName.slice(0, 140)} ${description}`
}
