import { checkArgument } from '@x/core'
import type { JsonLeaf, MustBeJson } from '@x/core'
import type { CallContext, ListKind, Principal } from '@x/exchange'
import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  Implementation,
  InputResponse,
  JsonValue,
  LoggingLevel,
  RequestMetaObject,
  Root,
  InputRequest,
} from '@x/schema'
import type { FormContentOf, Form } from '../elicitation/form.ts'
import type { AnySchema } from '../json-schema/compile-schema.ts'
import type { Awaitable } from '../request/awaitable.ts'

/**
 * The request that a handler serves, and the messages that it may send about it. You may destructure it, because its
 * functions do not use `this`.
 */
export interface RequestContext {
  /**
   * Aborts when the call is cancelled, and when this run of the handler ends early: because a question was asked, the
   * call becomes a task or moves to another instance, strict replay repeats it, or its state cannot be stored. Undo
   * work only if `isSuspension(signal.reason)` is false, which means that the call was cancelled.
   */
  readonly signal: AbortSignal
  /** The authenticated caller. Let authorization rely on this member alone. */
  readonly principal: Principal | undefined
  /** The client's own description of itself, unverified. */
  readonly client: ClientView
  /** The request's `_meta`, with the keys of extensions and of trace context. */
  readonly meta: RequestMetaObject
  /**
   * Values that middleware and extensions set for this call, by typed keys. An extension's package exports the function
   * that reads its values.
   */
  readonly context: CallContext
  /** True if the client declared a feature for this request. */
  can(feature: ClientFeature): boolean
  /**
   * Reports progress, if the client asked for it. Values that are not greater than the previous one, and values after
   * the end of the call, are dropped (basic/patterns/progress). One call sends at most 100 progress and log messages in
   * a second; further ones are dropped.
   */
  progress(progress: number, total?: number, message?: string): void
  /**
   * Sends a log message, if the client asked for this level. Messages after the end of the call are dropped, and those
   * beyond the 100 of a second (see `progress`). Keep credentials and personal data out of it
   * (server/utilities/logging, security).
   */
  log(level: LoggingLevel, data: JsonValue, logger?: string): void
}

/**
 * The context of handlers of tools, prompts and resources. Functions that ask or record take a key, which identifies
 * the question or the work within the call: 1 to 128 letters, digits and `_-.:/`, and no two may be equal. In a loop,
 * include the item in the key.
 *
 * When an answer is missing, the function rejects, the handler ends, and the client is asked. Once the client has
 * answered, the handler runs again from the top, on any instance. Answered questions and recorded work return at once,
 * but all other code runs again, so work that must not be repeated belongs in a `step`.
 */
export interface Context extends RequestContext {
  /**
   * Asks the user to fill in a form, and resolves with the content as the output of the schema. Rejects with
   * `InputDeclined` if the user declines or cancels. If the schema rejects an answer, the question is asked again, at
   * most twice (client/elicitation, form mode), before it rejects with an `McpError` -32602; it rejects with -32021 if
   * the client did not declare the capability. This holds for every function that asks. `Promise.all` over several
   * calls asks all questions in one round.
   */
  elicit<S extends AnySchema | Form<unknown>>(key: string, question: FormQuestion<S>): Promise<FormContentOf<S>>
  /** Like `elicit`, but also resolves if the user declines or cancels, with the user's action. */
  elicitResult<S extends AnySchema | Form<unknown>>(
    key: string,
    question: FormQuestion<S>,
  ): Promise<FormAnswer<FormContentOf<S>>>
  /**
   * Asks the user to open a page. Rejects with `InputDeclined` if the user declines or cancels (client/elicitation, URL
   * mode).
   */
  elicitUrl(key: string, question: UrlQuestion): Promise<void>
  /** Asks the client's model, and resolves with its message (client/sampling). */
  sample(key: string, params: CreateMessageRequestParams): Promise<CreateMessageResult>
  /**
   * Asks the client's model, and resolves with the text blocks of its message, one per line. Rejects if the message has
   * no text.
   */
  sampleText(key: string, params: CreateMessageRequestParams): Promise<string>
  /** Resolves with the user's folders and files on which the server may work (client/roots). */
  roots(key: string): Promise<readonly Root[]>
  /**
   * Runs work and records its result, which later runs of this call return without repeating the work. The result is
   * JSON, or undefined; for any other type the compiler reports the member that is not JSON, such as a `Date`, a `Map`
   * or a function. A step that throws is not recorded. A step runs at least once, because the record of a finished step
   * may be lost.
   */
  step<T extends StepResult>(key: string, work: ((context: StepContext) => Awaitable<T>) & MustBeJson<T>): Promise<T>
  /** Opens a record of a loop's progress, as JSON. A later run starts with the value that was saved last. */
  checkpoint<T extends JsonLeaf | object>(key: string, initialValue: T & MustBeJson<T>): Checkpoint<WidenedValue<T>>
  /**
   * Turns the call into a task, if the client accepts tasks. The handler ends, and runs again from the top in the
   * background, with all answers and recorded results; in that run this function resolves with true. If the client does
   * not accept tasks, it resolves with false, or the call fails with -32021 if the task is `required`. At a server
   * without tasks it resolves with false, or the call fails with -32603. With a client of an older revision, which has
   * no such tasks, it resolves with false. Default: `allowed`.
   */
  continueAsTask(choice?: TaskChoice): Promise<boolean>
  /**
   * Notifies the subscribers at all instances that a resource's content has changed. Resolves when the change bus has
   * accepted the notice; an error of the bus is logged, and the call continues. A handler that runs again notifies
   * again, unless the call is within a `step`.
   */
  notifyResourceUpdated(uri: string): Promise<void>
  /**
   * Notifies the subscribers at all instances that a list has changed for some callers. Errors and repeated runs are
   * handled as in `notifyResourceUpdated`.
   */
  notifyListChanged(kind: ListKind): Promise<void>
  /** When the call began, in milliseconds since 1970: the same in every run of the call. */
  now(): number
  /**
   * A UUID for a key: the same in every run of the call, and in a repeated call with the same idempotency key and the
   * same answers, on platforms with a synchronous SHA-256, such as Node. The client chose the idempotency key and can
   * compute the UUID, so create secrets with `crypto.randomUUID()` in a step instead.
   */
  uuid(key: string): string
  /**
   * The client's answers to the last `inputRequired`, by key, with unchecked contents. A client may also send answers
   * to questions that were never asked, in a request without `requestState`. If it matters that a user was asked, pass
   * a state to `inputRequired` and check `ctx.state`, or use `ctx.elicit`.
   */
  readonly responses: ReadonlyMap<string, InputResponse>
  /** The state that the previous round passed to `inputRequired`. */
  readonly state: JsonValue | undefined
}

/** A client as its request describes it. */
export interface ClientView {
  /** The protocol revision that the client speaks, such as `2025-11-25`. */
  readonly version: string
  /** Name and version of the client software, unverified: use them only for display. */
  readonly info: Implementation | undefined
  readonly capabilities: ClientCapabilities
}

/** A feature that a client may declare. One with a slash is an extension's identifier. */
export type ClientFeature =
  | 'elicitation'
  | 'elicitation.form'
  | 'elicitation.url'
  | 'sampling'
  | 'sampling.context'
  | 'sampling.tools'
  | 'roots'
  | `${string}/${string}`

/**
 * A form for the user. It must not ask for secrets; {@link UrlQuestion} is for those (client/elicitation, form mode).
 */
export interface FormQuestion<S extends AnySchema | Form<unknown>> {
  /** Tells the user which information the server needs, and why. */
  readonly message: string
  /** An object of strings, numbers, booleans and choices: the form's fields. */
  readonly schema: S
}

/**
 * A page that the user is asked to open. The client does not see what the user does there (client/elicitation, URL
 * mode).
 */
export interface UrlQuestion {
  /** Tells the user why to open the page. */
  readonly message: string
  /** Must be the same in every run, so make it from `ctx.uuid` or in a step. */
  readonly url: string
  /**
   * Says, from the server's own data, whether the user has finished the work on the page; agreeing to open it does not
   * prove that. While it returns false, the question is asked again. Without this function, the agreement is the
   * answer.
   */
  readonly isDone?: (() => Awaitable<boolean>) | undefined
}

/** The user's answer to a form. */
export type FormAnswer<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline' | 'cancel'; readonly content?: undefined }

/** The argument of a step's function. */
export interface StepContext {
  /**
   * The step's key, at most 165 characters. It stays the same when the step runs again with the same answers, in a
   * replay or a retry, and when a client repeats a call with an idempotency key. Send it to the system that the step
   * calls, because a step may run more than once.
   */
  readonly idempotencyKey: string
  /**
   * Aborts when the call is cancelled, and in a task also when that continues at another instance, for which
   * `isSuspension(signal.reason)` is true. It does not abort when the handler asks a question at the same time.
   */
  readonly signal: AbortSignal
}

/** The result of a step: JSON, or undefined. `MustBeJson` checks the members of objects. */
export type StepResult = JsonLeaf | undefined | void | object

/** A record of how far a loop has come. */
export interface Checkpoint<T> {
  /** The value that was saved last, in this run or an earlier one, or the initial value. */
  readonly value: T
  /**
   * Records the loop's progress, so that a later run begins from it. Lets other work of the process run if handlers
   * have blocked the event loop for about 10 milliseconds. Ends this run if the call must continue at another instance.
   */
  save(value: T): Promise<void>
}

/**
 * The type that a checkpoint may save: any number if it begins with 0, any list if it begins with an empty one. A type
 * argument declares the items: `ctx.checkpoint<{ ids: string[] }>('k', { ids: [] })`.
 */
export type WidenedValue<T> = T extends number
  ? number
  : T extends string
    ? string
    : T extends boolean
      ? boolean
      : WithListsFilled<T>

/** Makes an empty list, whose type permits no items, a list of any JSON. */
export type WithListsFilled<T> = T extends readonly never[]
  ? JsonValue[]
  : T extends JsonLeaf | readonly unknown[]
    ? T
    : { [K in keyof T]: WithListsFilled<T[K]> }

/**
 * Whether a call runs as a task: `never`, `allowed` (as a task if the client accepts tasks), or `required` (rejects a
 * client that does not accept tasks).
 */
export type TaskChoice = 'never' | 'allowed' | 'required'

/** Only values of {@link inputRequired} have this member. */
export const explicitRoundBrand: unique symbol = Symbol('explicit round')

/** A handler's questions to its client, with the state that comes back with the answers. See {@link inputRequired}. */
export interface InputRequiredReturn {
  readonly [explicitRoundBrand]: true
  readonly requests: { readonly [key: string]: InputRequest }
  readonly state: JsonValue | undefined
}

/**
 * Asks the client when a handler returns it, for handlers that control each round themselves. In the next round read
 * `ctx.responses` and `ctx.state`. The state is sealed, so that the client can neither read nor change it, but checking
 * the contents of forms is up to you. At least one of `requests` and `state` is required (basic/patterns/mrtr, server
 * requirements).
 *
 * @example
 * const name = ctx.responses.get('name')
 * if (name === undefined) return inputRequired({ requests: { name: { method: 'elicitation/create', params } } })
 */
export function inputRequired(round: {
  readonly requests?: { readonly [key: string]: InputRequest } | undefined
  readonly state?: JsonValue | undefined
}): InputRequiredReturn {
  checkArgument(round, { where: 'inputRequired', takes: 'an object with requests or state' })
  const { requests = {}, state } = round
  return { [explicitRoundBrand]: true, requests, state }
}

/**
 * Thrown by `ctx.elicit` and `ctx.elicitUrl` when the user declined or cancelled. If the handler does not catch it, a
 * tool's call ends with a result with `isError`, and that of a prompt or resource with -32602, whose data has the `key`
 * and the `action`. `ctx.elicitResult` returns the user's action instead (client/elicitation, response actions).
 */
export class InputDeclined extends Error {
  override readonly name = 'InputDeclined'
  /** The key of the question. */
  readonly key: string
  readonly action: 'decline' | 'cancel'

  constructor(key: string, action: 'decline' | 'cancel') {
    super(`The user ${action === 'decline' ? 'declined to answer' : 'dismissed'} the question "${key}"`)
    this.key = key
    this.action = action
  }
}

/** True for an {@link InputDeclined}, from this copy of the package or another. */
export function isInputDeclined(error: unknown): error is InputDeclined {
  return error instanceof Error && error.name === 'InputDeclined' && 'key' in error && 'action' in error
}
