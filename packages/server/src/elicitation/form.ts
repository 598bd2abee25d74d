import type { RequestedSchema } from '@x/schema'
import { compileJsonSchema } from '@x/schema/json-schema'
import { type CheckedValue, type AnySchema, compileSchema, type ParsedBy } from '../json-schema/schemas.ts'
import type { Awaitable } from '../request/awaitable.ts'
import { compileFormSchema } from './name-unshown.ts'
import { requestedSchemaOf } from './requested-schema.ts'

declare const answerType: unique symbol

/** A question's form, ready to be sent, and what checks the answer. Made by {@link form}. */
export interface Form<T> {
  /**
   * The schema that the client receives: frozen, and within the protocol's restricted subset of JSON Schema
   * (client/elicitation).
   */
  readonly requestedSchema: RequestedSchema
  /** Checks the content of an accepted answer with the schema that the form was made from, transforms included. */
  readonly check: (content: unknown) => Awaitable<CheckedValue>
  /** For the compiler alone: what the handler is given. No value has it. */
  readonly [answerType]?: T
}

/** The type that a handler receives for an answer to a form, or to a schema. */
export type AnsweredBy<S> = S extends Form<infer T> ? T : ParsedBy<S>

/**
 * Turns a schema into the protocol's restricted form, at once: a flat object of texts, numbers, yes-or-no fields and
 * choices (client/elicitation, requested schema). Call it where the module loads, so that a schema that no form can
 * carry is found when the server starts and not when a user waits.
 *
 * Clients see the schema's input side, and the handler gets its output. What the wire cannot carry belongs into
 * `refine()`, which the server checks.
 *
 * Throws `DefinitionError` (`schema`) that names the property and says what is allowed; its subject is `form`, or the
 * given one.
 *
 * @example
 * const contact = form(z.object({ email: z.email(), age: z.int().min(18).optional() }))
 */
export function form<S extends AnySchema>(schema: S, subject = 'form'): Form<ParsedBy<S>> {
  const { json, check } = compileFormSchema(schema, (part) =>
    compileSchema(part, { subject, side: 'input', compile: compileJsonSchema }),
  )
  return Object.freeze({ requestedSchema: requestedSchemaOf(json, subject), check })
}

const compiledForms = new WeakMap<object, Form<unknown>>()

/**
 * A form as it is, or a schema turned into one. It is remembered by the schema object, so that one that stands outside
 * the handler is turned once. Throws as {@link form} does.
 */
export function formOf(schema: AnySchema | Form<unknown>): Form<unknown> {
  if (isCompiledForm(schema)) return schema
  const cachedValue = compiledForms.get(schema)
  if (cachedValue !== undefined) return cachedValue
  const compiledForm = form(schema)
  compiledForms.set(schema, compiledForm)
  return compiledForm
}

const schemaTextByForm = new WeakMap<Form<unknown>, string>()

/** A form's schema as JSON: every run of a handler writes its questions, to know them again. */
export function schemaTextOf(form: Form<unknown>): string {
  const cachedValue = schemaTextByForm.get(form)
  if (cachedValue !== undefined) return cachedValue
  const text = JSON.stringify(form.requestedSchema)
  schemaTextByForm.set(form, text)
  return text
}

/** No schema has both: JSON Schema holds no functions, and no library calls a member so. */
function isCompiledForm(schema: AnySchema | Form<unknown>): schema is Form<unknown> {
  return 'requestedSchema' in schema && typeof schema.check === 'function'
}
