import type { RequestedSchema } from '@x/schema'
import { compileJsonSchema } from '@x/schema/json-schema'
import {
  type CheckedValue,
  type CompiledSchema,
  type AnySchema,
  compileSchema,
  type SchemaOutput,
} from '../json-schema/compile-schema.ts'
import { isZodSchema } from '../json-schema/zod-issues.ts'
import { zodKeyOf } from '../json-schema/zod-key.ts'
import type { Awaitable } from '../request/awaitable.ts'
import { compileFormSchema } from './compile-form-schema.ts'
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
export type FormContentOf<S> = S extends Form<infer T> ? T : SchemaOutput<S>

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
export function form<S extends AnySchema>(schema: S, subject = 'form'): Form<SchemaOutput<S>> {
  const { requestedSchema, check } = compileForm(schema, subject)
  return Object.freeze({ requestedSchema, check })
}

/** A form, and what makes others of equal schemas. */
interface CompiledForm {
  readonly requestedSchema: RequestedSchema
  readonly check: CompiledSchema['check']
  readonly checkOf: CompiledSchema['checkOf']
}

function compileForm(schema: AnySchema, subject: string): CompiledForm {
  const { json, check, checkOf } = compileFormSchema(schema, (part) =>
    compileSchema(part, { subject, side: 'input', compile: compileJsonSchema }),
  )
  return { requestedSchema: requestedSchemaOf(json, subject), check, checkOf }
}

/** The forms of schemas that were seen more than once. */
const formsBySchema = new WeakMap<object, Form<unknown>>()

/**
 * The forms of the latest schemas that were seen once. A schema that each run of a handler builds anew never comes
 * again, and a `WeakMap` that lives long would keep it until the next full collection of garbage.
 */
const latestForms = new Map<object, Form<unknown>>()
const maxLatestForms = 64

/**
 * A form as it is, or a schema turned into one. It is remembered by the schema object, so that one that stands outside
 * the handler is turned once. A schema that each run of a handler builds anew is recognized by its structure: it is not
 * converted again, and validates itself. Throws as {@link form} does.
 *
 * `onRebuilt` is called once for a schema that is built again and again.
 */
export function formOf(schema: AnySchema | Form<unknown>, onRebuilt: () => void = () => {}): Form<unknown> {
  if (isCompiledForm(schema)) return schema
  const known = formsBySchema.get(schema) ?? latestForms.get(schema)
  const compiledForm = known ?? equalFormOf(schema, onRebuilt) ?? form(schema)
  if (latestForms.delete(schema)) formsBySchema.set(schema, compiledForm)
  else if (known === undefined) noteForm(schema, compiledForm)
  return compiledForm
}

function noteForm(schema: object, compiledForm: Form<unknown>): void {
  const [oldest] = latestForms.size < maxLatestForms ? [] : latestForms.keys()
  if (oldest !== undefined) latestForms.delete(oldest)
  latestForms.set(schema, compiledForm)
}

/** A form that was made of a schema with some key, and the schemas of this key since. */
interface RememberedForm {
  readonly requestedSchema: RequestedSchema
  readonly checkOf: NonNullable<CompiledForm['checkOf']>
  rebuildCount: number
}

const formsByKey = new Map<string, RememberedForm>()

/** The number of forms that are remembered by key, and the characters of a key: schemas may hold what a peer sent. */
const maxRememberedForms = 256
const maxKeyLength = 10_000

/** After so many, construction is no start-up or test, and costs more than all else that a round does. */
const rebuildWarningCount = 100

/** Returns the form of a schema of zod by those of equal schemas; undefined for a schema without a key. */
function equalFormOf(schema: AnySchema, onRebuilt: () => void): Form<unknown> | undefined {
  const key = zodKeyOf(schema)
  if (key === undefined || key.length > maxKeyLength || !isZodSchema(schema)) return undefined
  const equalForm = formsByKey.get(key)
  if (equalForm === undefined) return rememberForm(key, compileForm(schema, 'form'))
  equalForm.rebuildCount++
  if (equalForm.rebuildCount === rebuildWarningCount) onRebuilt()
  return { requestedSchema: equalForm.requestedSchema, check: equalForm.checkOf(schema) }
}

function rememberForm(key: string, { requestedSchema, check, checkOf }: CompiledForm): Form<unknown> {
  const [oldest] = formsByKey.keys()
  if (formsByKey.size >= maxRememberedForms && oldest !== undefined) formsByKey.delete(oldest)
  if (checkOf !== undefined) formsByKey.set(key, { requestedSchema, checkOf, rebuildCount: 0 })
  return { requestedSchema, check }
}

const schemaTexts = new WeakMap<RequestedSchema, string>()

/** A form's schema as JSON: every run of a handler writes its questions, to know them again. */
export function schemaTextOf({ requestedSchema }: Form<unknown>): string {
  const known = schemaTexts.get(requestedSchema)
  if (known !== undefined) return known
  const text = JSON.stringify(requestedSchema)
  schemaTexts.set(requestedSchema, text)
  return text
}

/** No schema has both: JSON Schema holds no functions, and no library calls a member so. */
function isCompiledForm(schema: AnySchema | Form<unknown>): schema is Form<unknown> {
  return 'requestedSchema' in schema && typeof schema.check === 'function'
}
