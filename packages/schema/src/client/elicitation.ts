import type { PrimitiveSchemaDefinition } from './elicitation-schema.ts'

/** The form that a user is asked to fill in: a flat object (client/elicitation, requested schema). */
export type RequestedSchema = {
  readonly $schema?: string | undefined
  readonly type: 'object'
  readonly properties: { readonly [field: string]: PrimitiveSchemaDefinition }
  readonly required?: readonly string[] | undefined
}

/** Asks through a form in the client; never for secrets (client/elicitation, form mode). */
export type ElicitRequestFormParams = {
  /** Absent means the same. */
  readonly mode?: 'form' | undefined
  /** Tells the user what is wanted. */
  readonly message: string
  readonly requestedSchema: RequestedSchema
}

/** Asks through a page outside the client, which then sees nothing of the answer (client/elicitation, URL mode). */
export type ElicitRequestURLParams = {
  readonly mode: 'url'
  /** Tells the user why to go there. */
  readonly message: string
  readonly url: string
}

/** What to ask a user, and how (client/elicitation). */
export type ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams

/** Asks a client to ask its user; travels in an `InputRequiredResult` (client/elicitation). */
export type ElicitRequest = {
  readonly method: 'elicitation/create'
  readonly params: ElicitRequestParams
}

/** What the user did (client/elicitation, response actions). */
export type ElicitResult = {
  /** Agreed, said no, or turned away without a choice. */
  readonly action: 'accept' | 'decline' | 'cancel'
  /** The form's fields; only when a form was accepted. */
  readonly content?: { readonly [field: string]: string | number | boolean | readonly string[] } | undefined
}
