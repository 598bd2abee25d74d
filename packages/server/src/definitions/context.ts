import type { JsonLeaf, MustBeJson } from '@x/core'
import type {
  CallContext,
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  Implementation,
  InputResponse,
  JsonValue,
  ListKind,
  LoggingLevel,
  Principal,
  RequestMetaObject,
  Root,
  InputRequest,
} from '@x/schema'
import type { FormContentOf, Form } from '../elicitation/form.ts'
import type { AnySchema } from '../json-schema/compile-schema.ts'
import type { Awaitable } from '../request/awaitable.ts'

/** The request while it is served. It may be destructured: its functions need no `this`. */
export interface RequestContext {
  /** Aborts when the call is cancelled, or when this run of the handler ends because a question was asked. */
  readonly signal: AbortSignal
  /** The authenticated caller. The only member that authorization may rely on. */
  readonly principal: Principal | undefined
  /** The client's unverified description of itself. */
  readonly client: ClientView
  /** The request's `_meta`, with the keys of extensions and of trace context. */
  readonly meta: RequestMetaObject
  /**
   * Values that middleware and extensions set for this call, by typed keys. An extension's package exports the accessor
   * to its own.
   */
  readonly context: CallContext
  /** Returns whether the client declared a feature for this request. */
  can(feature: ClientFeature): boolean
  /**
   * Reports progress, if the client asked for it. A value that is not greater than the last is dropped, as is every
   * value after the call has ended (basic/patterns/progress).
   */
  progress(progress: number, total?: number, message?: string): void
  /**
   * Sends a log message, if the client asked for this level. Nothing is sent after the call has ended. Keep
   * credentials and personal data out of it (server/utilities/logging, security).
   */
  log(level: LoggingLevel, data: JsonValue, logger?: string): void
}

/**
 * The context of a tool's, prompt's or resource's handler. Its functions that ask and record take a key, which names
 * the question or the work within the call: 1 to 128 letters, digits and `_-.:/`, each used once. Loops put the item in
 * it.
 *
 * When an answer is missing, the function rejects, the handler ends, and the client is asked. Once it has answered, the
 * handler runs again from the top, on any instance: answers and recorded results return at once, and the code between
 * is run again. Work that must not be repeated belongs into a `step`.
 */
export interface Context extends RequestContext {
  /**
   * Asks the user to fill in a form, and gives what they filled in, as the schema made it. Rejects with `InputDeclined`
   * when they would not. An answer that does not fit is asked for twice more (client/elicitation, form mode).
   * `Promise.all` over several calls asks all of them in one round.
   */
  elicit<S extends AnySchema | Form<unknown>>(key: string, question: FormQuestion<S>): Promise<FormContentOf<S>>
  /** Like `elicit`, but returns the user's action: accept, decline or cancel. */
  elicitResult<S extends AnySchema | Form<unknown>>(
    key: string,
    question: FormQuestion<S>,
  ): Promise<FormAnswer<FormContentOf<S>>>
  /** Sends the user to a page. Rejects with `InputDeclined` when they would not go (client/elicitation, URL mode). */
  elicitUrl(key: string, question: UrlQuestion): Promise<void>
  /** Asks the client's model (client/sampling). */
  sample(key: string, params: CreateMessageRequestParams): Promise<CreateMessageResult>
  /**
   * Asks the client's model, and gives the text of its answer: the text blocks, one per line. Rejects when the answer
   * has none.
   */
  sampleText(key: string, params: CreateMessageRequestParams): Promise<string>
  /** The places in the user's files that the server may work on (client/roots). */
  roots(key: string): Promise<readonly Root[]>
  /**
   * Runs work and records its result: later runs of this call have it without the work. The result is JSON, or nothing.
   * The type of one that is not makes an error that names the member (`Date`, `Map`, a function).
   * A step that throws is not recorded, and one that has just run may run again if its recording is lost: it runs at
   * least once.
   */
  step<T extends StepResult>(key: string, work: ((context: StepContext) => Awaitable<T>) & MustBeJson<T>): Promise<T>
  /** Opens a record of how far a loop has come, as JSON: a later run begins from its value. */
  checkpoint<T extends JsonLeaf | object>(key: string, initialValue: T & MustBeJson<T>): Checkpoint<WidenedValue<T>>
  /**
   * Makes the call a task from here on, if its client takes tasks: the handler ends, and runs again from the top in the
   * background, with everything that was answered and recorded. Resolves with whether the call is a task. Without tasks
   * the handler continues, unless the task is `required`: then the call fails with -32021.
   */
  continueAsTask(choice?: TaskChoice): Promise<boolean>
  /**
   * Notifies subscribers, at every instance, that what a resource holds has changed. Resolves once the change bus has
   * it. A bus that fails is logged, and the call continues. A run that is repeated notifies again,
   * except from within a `step`.
   */
  notifyResourceUpdated(uri: string): Promise<void>
  /** Notifies subscribers that a list has changed for some callers, as `notifyResourceUpdated` does of a resource. */
  notifyListChanged(kind: ListKind): Promise<void>
  /** When the call began, in milliseconds since 1970: the same in every run. */
  now(): number
  /**
   * A UUID by key: the same in every run, and when a call with an idempotency key is sent again. The client that made
   * that key can compute it: make secrets with `crypto.randomUUID()` inside a step.
   */
  uuid(key: string): string
  /**
   * The client's answers to the `inputRequired` that the last round returned, by key. Their contents are unchecked. A
   * request without `requestState` may bring answers too, to questions that were never asked. Where it matters that a
   * user was asked, give `inputRequired` a state and look for it in `ctx.state`, or use `ctx.elicit`.
   */
  readonly responses: ReadonlyMap<string, InputResponse>
  /** The state that the last round gave to `inputRequired`. */
  readonly state: JsonValue | undefined
}

/** A client as its request describes it. */
export interface ClientView {
  /** The revision of the protocol that the request is written in. */
  readonly version: string
  /** The client's software: for display, not for decisions. */
  readonly info: Implementation | undefined
  readonly capabilities: ClientCapabilities
}

/** A feature that a client may declare. An identifier with a slash is an extension. */
export type ClientFeature =
  | 'elicitation'
  | 'elicitation.form'
  | 'elicitation.url'
  | 'sampling'
  | 'sampling.context'
  | 'sampling.tools'
  | 'roots'
  | `${string}/${string}`

/** A form for the user, never for secrets, which belong behind a URL (client/elicitation, form mode). */
export interface FormQuestion<S extends AnySchema | Form<unknown>> {
  /** The text that says what is wanted, and why. */
  readonly message: string
  /** The fields of the form: an object of strings, numbers, booleans and choices. */
  readonly schema: S
}

/** A page that the user is sent to. The client sees nothing of what happens there (client/elicitation, URL mode). */
export interface UrlQuestion {
  /** The text that says why to open the page. */
  readonly message: string
  /** The same in every run: make it from `ctx.uuid`, or in a step. */
  readonly url: string
  /**
   * Returns whether the work behind the URL is done, as the server itself knows it: the user's agreement to open a page
   * proves nothing. While it is not done, the question is asked again. Without this function, the agreement is the
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
   * The same whenever this step of this call runs with the same answers, over replays and retries, and when a client
   * sends a call with an idempotency key again: give it to what the step talks to, because a step runs at least once.
   * At most 165 characters.
   */
  readonly idempotencyKey: string
  /** Aborts when the call is cancelled. A question that is asked meanwhile does not stop a step. */
  readonly signal: AbortSignal
}

/** The result type of a step: JSON, or nothing. `MustBeJson` looks into its objects. */
export type StepResult = JsonLeaf | undefined | void | object

/** The recorded progress of a loop. */
export interface Checkpoint<T> {
  /** The value last saved, in this run or an earlier one. At first, the initial value. */
  readonly value: T
  /**
   * Records how far the loop is: a later run begins from here. Lets the event loop turn when handlers have held it up
   * for about 10 milliseconds, and ends this run when the call is to continue at another instance.
   */
  save(value: T): Promise<void>
}

/**
 * The type of the values that a checkpoint saves: one that begins with 0 may save any number, and one that begins with
 * an empty list may save a list of anything. `ctx.checkpoint<{ ids: string[] }>('k', { ids: [] })` says of what.
 */
export type WidenedValue<T> = T extends number
  ? number
  : T extends string
    ? string
    : T extends boolean
      ? boolean
      : WithListsFilled<T>

/** Replaces the type of an empty list, which can hold nothing. */
export type WithListsFilled<T> = T extends readonly never[]
  ? JsonValue[]
  : T extends JsonLeaf | readonly unknown[]
    ? T
    : { [K in keyof T]: WithListsFilled<T[K]> }

/**
 * Decides whether a call runs as a task: `never`; `allowed` when its client accepts tasks; or `required`, which rejects
 * a client that does not.
 */
export type TaskChoice = 'never' | 'allowed' | 'required'

const explicitRoundBrand = Symbol('explicit round')

/**
 * The input that a handler requires of the client, and the state that it gets back with the answers. See
 * {@link inputRequired}.
 */
export interface InputRequiredReturn {
  readonly [explicitRoundBrand]: true
  readonly requests: { readonly [key: string]: InputRequest }
  readonly state: JsonValue | undefined
}

/**
 * Ends a run by asking, in the protocol's own terms, for handlers that want every round in sight: return it, and in the
 * next round read `ctx.responses` and `ctx.state`. The state is sealed on its way. The contents of forms are the
 * client's word, and the handler checks them. At least one of the two must be there (basic/patterns/mrtr, server
 * requirements).
 *
 * @example
 * const name = ctx.responses.get('name')
 * if (name === undefined) return inputRequired({ requests: { name: { method: 'elicitation/create', params } } })
 */
export function inputRequired({
  requests = {},
  state,
}: {
  readonly requests?: { readonly [key: string]: InputRequest } | undefined
  readonly state?: JsonValue | undefined
}): InputRequiredReturn {
  return { [explicitRoundBrand]: true, requests, state }
}

/** Returns true for the value of {@link inputRequired}. */
export function isInputRequired(value: unknown): value is InputRequiredReturn {
  return typeof value === 'object' && value !== null && explicitRoundBrand in value
}

/**
 * The user said no to a question, or turned away from it. Thrown by `ctx.elicit` and `ctx.elicitUrl`. Uncaught, it ends
 * the call with a result that says so. `ctx.elicitResult` returns it instead (client/elicitation, response actions).
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

/** Returns true for an {@link InputDeclined}. */
export function isInputDeclined(error: unknown): error is InputDeclined {
  return error instanceof InputDeclined
}
