import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  Implementation,
  InputResponse,
  JsonValue,
  LoggingLevel,
  Principal,
  RequestMetaObject,
  Root,
} from '@x/schema'
import type { AnsweredBy, Form } from '../elicitation/form.ts'
import type { AnySchema } from '../json-schema/schemas.ts'
import type { TaskChoice } from '../replay/task-choice.ts'
import type { FormAnswer, FormQuestion, UrlQuestion } from '../replay/question.ts'
import type { Checkpoint, StepContext, StepResult, Widened } from '../replay/recorded.ts'
import type { Awaitable } from './awaitable.ts'

/** What is known of a request while it is served. It may be taken apart: its functions need no `this`. */
export interface RequestContext {
  /** Aborts when nobody wants the answer any more. */
  readonly signal: AbortSignal
  /** Who asks, as the transport authenticated them; the one thing here that decisions may rest on. */
  readonly principal: Principal | undefined
  /** Who asks, as they describe themselves. */
  readonly client: ClientView
  /** The request's `_meta`, with the keys of extensions and of trace context. */
  readonly meta: RequestMetaObject
  /**
   * What an exchange around the server gives to handlers, by the identifier of the extension; undefined without it. The extension's
   * package has a typed way to it. Each run of a handler is given its own.
   */
  extension(identifier: string): unknown
  /** Whether the client declared, for this request, that it can do something. */
  can(feature: ClientFeature): boolean
  /**
   * Tells how far the work is, if the client asked to be told. A value that is not greater than the last is dropped, as
   * is everything after the call has ended (basic/patterns/progress).
   */
  progress(progress: number, total?: number, message?: string): void
  /**
   * Sends a log message, if the client asked for this level. Nothing is sent after the call has ended. Keep
   * credentials and personal data out of it (server/utilities/logging, security).
   */
  log(level: LoggingLevel, data: JsonValue, logger?: string): void
}

/**
 * What the handler of a tool, a prompt or a resource works with. Its functions that ask and record take a key, which names the
 * question or the work within the call: 1 to 128 letters, digits and `_-.:/`, each used once; loops put the item in it.
 *
 * When an answer is missing, the function rejects, the handler ends, and the client is asked. Once it has answered, the
 * handler runs again from the top, on any instance: what is answered and recorded returns at once, and the code between is
 * run again. What must not be done twice belongs into a `step`.
 */
export interface Context extends RequestContext {
  /**
   * Asks the user to fill in a form, and gives what they filled in, as the schema made it. Rejects with `InputDeclined`
   * when they would not. An answer that does not fit is asked for twice more (client/elicitation, form mode).
   */
  elicit<S extends AnySchema | Form<unknown>>(key: string, question: FormQuestion<S>): Promise<AnsweredBy<S>>
  /** Asks several things in one round; each is answered under its own key. */
  elicitAll<Q extends { readonly [key: string]: FormQuestion<AnySchema | Form<unknown>> }>(
    questions: Q,
  ): Promise<{ readonly [K in keyof Q]: AnsweredBy<Q[K]['schema']> }>
  /** Like `elicit`, but gives what the user did, whatever it was. */
  ask<S extends AnySchema | Form<unknown>>(key: string, question: FormQuestion<S>): Promise<FormAnswer<AnsweredBy<S>>>
  /** Sends the user to a page; rejects with `InputDeclined` when they would not go (client/elicitation, URL mode). */
  elicitUrl(key: string, question: UrlQuestion): Promise<void>
  /** Asks the client's model (client/sampling). */
  sample(key: string, params: CreateMessageRequestParams): Promise<CreateMessageResult>
  /** The places in the user's files that the server may work on (client/roots). */
  roots(key: string): Promise<readonly Root[]>
  /**
   * Does work whose result is recorded: later runs of this call have it without the work. The result is JSON, or nothing.
   * A step that throws is not recorded, and one that has just run may run again if its recording is lost: it runs at least
   * once.
   */
  step<T extends StepResult>(key: string, work: (context: StepContext) => Awaitable<T>): Promise<T>
  /** Opens a record of how far a loop has come: a later run begins from its value. */
  checkpoint<T extends JsonValue>(key: string, initial: T): Checkpoint<Widened<T>>
  /**
   * Makes the call a task from here on, if its client takes tasks: the handler ends, and runs again from the top in the background,
   * with everything that was answered and recorded. Resolves with whether the call is a task. Without tasks the handler goes on as it
   * is, unless the task is `required`: then the client is told so (-32021).
   */
  task(choice?: TaskChoice): Promise<boolean>
  /** When the call began, in milliseconds since 1970: the same in every run. */
  now(): number
  /** A random UUID by key: the same in every run. */
  uuid(key: string): string
  /** What the client answered to the `inputRequired` that the last round returned, by key; its contents are unchecked. */
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

/** What a client may be able to do; an identifier with a slash is an extension. */
export type ClientFeature =
  | 'elicitation'
  | 'elicitation.form'
  | 'elicitation.url'
  | 'sampling'
  | 'sampling.context'
  | 'sampling.tools'
  | 'roots'
  | `${string}/${string}`
