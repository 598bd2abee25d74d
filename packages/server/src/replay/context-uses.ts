import { isCancelled } from '@x/core'
import type { Call } from '@x/exchange'
import type { ServerSettings } from '../compile/settings.ts'
import { allowUnawaited } from '../request/awaitable.ts'
import type { WarningCode } from '../request/report.ts'
import { describeType } from '../request/json-copy.ts'
import { rememberAuthorFrames } from './author-frames.ts'
import { HandlerError } from './handler-error.ts'

interface UsedRun {
  readonly request: { readonly settings: Pick<ServerSettings, 'authorFrames'>; readonly call: Call }
  readonly name: string
  readonly isOver: boolean
  readonly uses: ContextUses
  readonly checkNotOver: (functionName: string) => void
  readonly fail: (error: HandlerError) => HandlerError
  readonly warn: (code: WarningCode, problem: string) => void
}

/** A question or a step that a handler has started. */
export interface StartedUse {
  readonly isQuestion: boolean
  /** The call as error messages show it, such as `ctx.step("charge")`. */
  readonly description: string
  /** True once the handler waits for the promise, directly or through a function such as `Promise.all`. */
  readonly isAwaited: boolean
  readonly isSettled: boolean
  /** How many uses of the run had failed before this one started. */
  readonly failuresBefore: number
  /** What the promise was rejected with, and its place among the failures. Undefined if it was not rejected. */
  readonly failure: { readonly error: unknown; readonly index: number } | undefined
}

/**
 * Watches what a handler does with its context in one run: the keys that it gives, and the promises that it gets and
 * may forget to await.
 */
export class ContextUses {
  readonly #run: UsedRun
  /** Maps `kind key` to a question's text, or to an empty text for other kinds. Bounded by the uses in one run. */
  readonly #keys = new Map<string, string>()
  #skippableKeys: Set<string> | undefined
  readonly #started: ObservedUse[] = []
  #failureCount = 0
  #isInStep = false

  constructor(run: UsedRun) {
    this.#run = run
  }

  /** All keys so far, as `kind key`, with the text of each question. */
  get keys(): ReadonlyMap<string, string> {
    return this.#keys
  }

  /**
   * Keys that the next run need not use, because it continues from a checkpoint saved after them. Filled only in strict
   * replay.
   */
  get skippableKeys(): ReadonlySet<string> | undefined {
    return this.#skippableKeys
  }

  get started(): readonly StartedUse[] {
    return this.#started
  }

  /** Throws if the context cannot be used now: the run is over, or a step's function calls it. */
  checkUse(functionName: string, advice = 'steps do work, the handler asks'): void {
    this.#run.checkNotOver(functionName)
    if (this.#isInStep)
      throw this.#run.fail(new HandlerError('nested', `${functionName} was used inside a step: ${advice}`))
  }

  /**
   * Records a call of a `ctx` function, such as a `step`. A key can be used once for each kind; `text` is a question's
   * text, which must be the same in later runs. Throws a `HandlerError` for a misuse, and the suspension if the run is
   * suspended.
   */
  registerUse(kind: string, key: string, functionName: string, text = ''): void {
    this.checkUse(functionName)
    this.checkKey(key, functionName)
    const useKey = `${kind} ${key}`
    if (this.#keys.has(useKey)) {
      const advice = `give each its own, such as "${key}/17"`
      throw this.#run.fail(
        new HandlerError('duplicate', `${functionName} was given the key "${key}" twice in one run: ${advice}`),
      )
    }
    this.#keys.set(useKey, text)
  }

  /**
   * Fails the call for an invalid key. It comes before anything reads the question, which may stand in the key's place.
   */
  checkKey(key: unknown, functionName: string): void {
    try {
      checkHandlerKey(key, functionName)
    } catch (error) {
      if (error instanceof HandlerError) this.#run.fail(error)
      throw error
    }
  }

  /** Calls a step's function. Using the context before its first `await` fails the call. */
  callInStep<A, T>(work: (argument: A) => T, argument: A): T {
    this.#isInStep = true
    try {
      return work(argument)
    } finally {
      this.#isInStep = false
    }
  }

  /** Spares the next run the uses since a checkpoint was opened. */
  skipSince(checkpointKey: string): void {
    const useKeys = [...this.#keys.keys()]
    // Bounded by the uses in one run.
    this.#skippableKeys ??= new Set()
    for (const useKey of useKeys.slice(useKeys.indexOf(`checkpoint ${checkpointKey}`) + 1))
      this.#skippableKeys.add(useKey)
  }

  /**
   * Records a question or step that the handler starts, unless the run is over. An unhandled rejection of the returned
   * promise does not end the process.
   */
  startUse<T>(source: Promise<T>, isQuestion: boolean, description: string): Promise<T> {
    const failuresBefore = this.#failureCount
    const use: ObservedUse = {
      isQuestion,
      description,
      isAwaited: false,
      isSettled: false,
      failuresBefore,
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
          use.failure = { error, index: this.#failureCount++ }
          this.#warnLateUse(description, error)
          reject(error)
        },
      )
    })
    allowUnawaited(promise)
    // From here on, `then` notes that the handler awaits the promise.
    promise.use = use
    if (!this.#run.isOver) this.#started.push(use)
    return promise
  }

  /** Warns of a use after its call has ended. Its error would reach only code that awaits it, and there may be none. */
  #warnLateUse(description: string, error: unknown): void {
    if (!(error instanceof HandlerError) || error.code !== 'ended' || isCancelled(this.#run.request.call)) return
    const advice = 'await everything that the handler starts'
    this.#run.warn('unawaited', `used ${description} after its call had ended: ${advice}`)
  }
}

/** Only this file changes a use; others read it. */
type ObservedUse = { -readonly [Member in keyof StartedUse]: StartedUse[Member] }

/**
 * Notices that something waits for it. It must be a subclass, because `await` calls `then` of a subclass, but no method
 * of a plain promise.
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
 * Records a question or step in the run, and returns the promise for the handler. `key` may be any value in a program
 * without types. The caller must be called by the function of the context itself, because captured stacks count frames.
 */
export function startUse<T>(run: UsedRun, functionName: string, key: unknown, source: Promise<T>): Promise<T> {
  const description = `${functionName}(${typeof key === 'string' ? JSON.stringify(key.slice(0, 140)) : '…'})`
  const { authorFrames } = run.request.settings
  const callKey = callKeyOf(run, description)
  if (!authorFrames.has(callKey)) rememberAuthorFrames(authorFrames, callKey, startUse)
  return run.uses.startUse(source, functionName !== 'ctx.step', description)
}

/** Where the author's code started a question or step. Undefined if its frames were not stored. */
export function authorFramesOf(run: UsedRun, { description }: StartedUse): string | undefined {
  return run.request.settings.authorFrames.get(callKeyOf(run, description))
}

/** A name may be a client's URI, so the key's length is bounded. */
function callKeyOf({ name }: UsedRun, description: string): string {
  return `${name.slice(0, 140)} ${description}`
}

/**
 * Throws unless a key consists of 1 to 128 letters, digits or `_ - . : /`. `~` is not allowed, because it marks the
 * keys of repeated questions in `inputRequests`.
 */
export function checkHandlerKey(key: unknown, functionName: string): asserts key is string {
  if (typeof key === 'string' && /^[A-Za-z0-9_.:/-]{1,128}$/.test(key)) return
  if (typeof key === 'object' || typeof key === 'function' || key === undefined) {
    const first = `the first argument of ${functionName} must be the key, a text`
    throw new HandlerError('key', `${first}, and it is ${describeType(key)}; write ${functionName}('name', …)`)
  }
  const shownKey = typeof key === 'string' ? JSON.stringify(key.slice(0, 140)) : String(key)
  const rule = 'a key is 1 to 128 letters, digits and "_-.:/"; in a loop, put the item into it ("confirm/17")'
  throw new HandlerError('key', `${functionName} was given the key ${shownKey}: ${rule}`)
}
