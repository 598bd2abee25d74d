import { isJsonObject } from '@x/core'
import { type PrimitiveSchemaDefinition, primitiveSchemaDefinition } from './elicitation-schema.ts'
import { formValue, list, map, optional, type Shape, shape, string, union, literal } from '../basic/shape.ts'

/** What a user fills in: a flat object (client/elicitation, requested schema). */
export type RequestedSchema = {
  readonly $schema?: string | undefined
  readonly type: 'object'
  readonly properties: { readonly [field: string]: PrimitiveSchemaDefinition }
  readonly required?: readonly string[] | undefined
}

/** Elicits through a form in the client. A server must not ask for secrets in one (client/elicitation, form mode). */
export type ElicitRequestFormParams = {
  /** Absent means `form`. */
  readonly mode?: 'form' | undefined
  /** Message that the client shows to the user. */
  readonly message: string
  readonly requestedSchema: RequestedSchema
}

const requestedSchema = shape<RequestedSchema>({
  $schema: optional(string),
  type: literal('object'),
  properties: map(primitiveSchemaDefinition),
  required: optional(list(string)),
})

export const elicitRequestFormParams = shape<ElicitRequestFormParams>({
  mode: optional(literal('form')),
  message: string,
  requestedSchema,
})

/** Elicits through a web page. The client does not see the user's input (client/elicitation, URL mode). */
export type ElicitRequestURLParams = {
  readonly mode: 'url'
  /** Why the page should be opened, shown to the user. */
  readonly message: string
  readonly url: string
}

export const elicitRequestURLParams = shape<ElicitRequestURLParams>({
  mode: literal('url'),
  message: string,
  url: string,
})

/** Params of an elicitation (client/elicitation). */
export type ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams

export const elicitRequestParams: Shape<ElicitRequestParams> = union(
  [elicitRequestFormParams, elicitRequestURLParams],
  (value) => (isJsonObject(value) && value['mode'] === 'url' ? 1 : 0),
)

/** Asks the client's user for input. It is a part of an `InputRequiredResult` (client/elicitation). */
export type ElicitRequest = {
  readonly method: 'elicitation/create'
  readonly params: ElicitRequestParams
}

export const elicitRequest = shape<ElicitRequest>({
  method: literal('elicitation/create'),
  params: elicitRequestParams,
})

/** What became of an elicitation (client/elicitation, response actions). */
export type ElicitResult = {
  /** The user accepted, declined or dismissed the request. */
  readonly action: 'accept' | 'decline' | 'cancel'
  /** Values of the form's fields. Present only for an accepted form. */
  readonly content?: { readonly [field: string]: string | number | boolean | readonly string[] } | undefined
}

/**
 * The published JSON Schema allows only integers as numbers. The specification's TypeScript, the source of truth, also
 * allows fractions (basic/index, schema).
 */
export const elicitResult = shape<ElicitResult>({
  action: literal('accept', 'cancel', 'decline'),
  content: optional(map(formValue)),
})
