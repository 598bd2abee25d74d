import type { PrimitiveSchemaDefinition } from './elicitation-schema.ts'

/** The form that a user fills in: a flat object (client/elicitation, requested schema). */
export type RequestedSchema = {
  readonly $schema?: string | undefined
  readonly type: 'object'
  readonly properties: { readonly [field: string]: PrimitiveSchemaDefinition }
  readonly required?: readonly string[] | undefined
}

/** Elicits through a form in the client; never for secrets (client/elicitation, form mode). */
export type ElicitRequestFormParams = {
  /** Absent means the same. */
  readonly mode?: 'form' | undefined
  /** The prompt shown to the user. */
  readonly message: string
  readonly requestedSchema: RequestedSchema
}

/** Elicits through a page outside the client, which does not see the input (client/elicitation, URL mode). */
export type ElicitRequestURLParams = {
  readonly mode: 'url'
  /** The reason to open the page, shown to the user. */
  readonly message: string
  readonly url: string
}

/** The params of an elicitation (client/elicitation). */
export type ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams

/** Requests input from the client's user; part of an `InputRequiredResult` (client/elicitation). */
export type ElicitRequest = {
  readonly method: 'elicitation/create'
  readonly params: ElicitRequestParams
}

/** The result of an elicitation (client/elicitation, response actions). */
export type ElicitResult = {
  /** The user accepted, declined, or dismissed the request. */
  readonly action: 'accept' | 'decline' | 'cancel'
  /** The form's fields; present only for an accepted form. */
  readonly content?: { readonly [field: string]: string | number | boolean | readonly string[] } | undefined
}
