import type { AnySchema } from '../json-schema/schemas.ts'
import type { Form } from '../elicitation/form.ts'
import type { Awaitable } from '../request/awaitable.ts'

/** A form for the user; never for secrets, which belong behind a URL (client/elicitation, form mode). */
export interface FormQuestion<S extends AnySchema | Form<unknown>> {
  /** The text that says what is wanted, and why. */
  readonly message: string
  /** The fields of the form: an object of strings, numbers, booleans and choices. */
  readonly schema: S
}

/** A page that the user is sent to; the client sees nothing of what happens there (client/elicitation, URL mode). */
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
  readonly done?: (() => Awaitable<boolean>) | undefined
}

/** The user's answer to a form. */
export type FormAnswer<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline' | 'cancel'; readonly content?: undefined }
