import type { AnySchema } from '../json-schema/schemas.ts'
import type { Form } from '../elicitation/form.ts'
import type { Awaitable } from '../request/awaitable.ts'

/** A form for the user; never for secrets, which belong behind a URL (client/elicitation, form mode). */
export interface FormQuestion<S extends AnySchema | Form<unknown>> {
  /** Tells the user what is wanted, and why. */
  readonly message: string
  /** What the form has: an object of strings, numbers, booleans and choices. */
  readonly schema: S
}

/** A page that the user is sent to; the client sees nothing of what happens there (client/elicitation, URL mode). */
export interface UrlQuestion {
  /** Tells the user why to go there. */
  readonly message: string
  /** The same in every run: make it from `ctx.uuid`, or in a step. */
  readonly url: string
  /**
   * Whether what the user does there is done, as the server itself knows it: that a user agreed to go there says nothing.
   * While it is not, the question is asked again. Without it, the agreement is the answer.
   */
  readonly done?: (() => Awaitable<boolean>) | undefined
}

/** What the user did with a form. */
export type FormAnswer<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline' | 'cancel'; readonly content?: undefined }
