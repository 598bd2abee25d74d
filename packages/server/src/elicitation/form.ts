import type { RequestedSchema } from '@x/schema'
import { compileTrustedJsonSchema } from '@x/schema/json-schema'
import {
  type CheckedValue,
  type CompiledSchema,
  type AnySchema,
  compileSchema,
  type SchemaOutput,
} from '../json-schema/compile-schema.ts'
import { isZodSchema } from '../json-schema/zod-issues.ts'
import { structureKeyOf } from '../json-schema/zod-key.ts'
import type { Awaitable } from '../request/awaitable.ts'
import { compileFormSchema } from './compile-form-schema.ts'
import { requestedSchemaOf } from './requested-schema.ts'

declare const answerType: unique symbol

/** A question's form, ready to be sent, with the validator of its answer. Made by {@link form}. */
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
 * Throws `DefinitionError` (`schema`) that names the property and says what is allowed. Its subject is `form`, or the
 * given one.
 *
 * @example
 * const contact = form(z.object({ email: z.email(), age: z.int().min(18).optional() }))
 */
export function form<S extends AnySchema>(schema: S, errorSubject = 'form'): Form<SchemaOutput<S>> {
  const { requestedSchema, check } = compileForm(schema, errorSubject)
  return Object.freeze({ requestedSchema, check })
}

/** A form, and what makes others of equal schemas. */
interface CompiledForm {
  readonly requestedSchema: RequestedSchema
  readonly check: CompiledSchema['check']
  readonly createCheckFor: CompiledSchema['createCheckFor']
}

function compileForm(schema: AnySchema, errorSubject: string): CompiledForm {
  const { jsonSchema, check, createCheckFor } = compileFormSchema(schema, (partSchema) =>
    compileSchema(partSchema, { errorSubject, side: 'input', compile: compileTrustedJsonSchema }),
  )
  return { requestedSchema: requestedSchemaOf(jsonSchema, errorSubject), check, createCheckFor }
}

/** The forms of schemas that were seen more than once. */
const formsBySchema = new WeakMap<object, Form<unknown>>()

/**
 * The forms of the latest schemas that were seen once. A schema that each run of a handler builds anew is never seen
 * again, and a `WeakMap` that lives long would keep it until the next full collection of garbage.
 */
const latestForms = new Map<object, Form<unknown>>()
const maxLatestForms = 64

/**
 * Returns a form unchanged, and turns a schema into one. The form is remembered by the schema object, so that a schema
 * outside of the handler is turned once. A schema that each run of a handler builds anew is recognized by its
 * structure: it is not converted again, and validates itself. Throws as {@link form} does.
 *
 * `onRebuilt` is called once for a schema that is built again and again.
 */
export function formOf(schema: AnySchema | Form<unknown>, onRebuilt: () => void = () => {}): Form<unknown> {
  if (isForm(schema)) return schema
  const knownForm = formsBySchema.get(schema) ?? latestForms.get(schema)
  const compiledForm = knownForm ?? reuseFormOfEqualSchema(schema, onRebuilt) ?? form(schema)
  if (latestForms.delete(schema)) formsBySchema.set(schema, compiledForm)
  else if (knownForm === undefined) rememberLatestForm(schema, compiledForm)
  return compiledForm
}

function rememberLatestForm(schema: object, compiledForm: Form<unknown>): void {
  const [oldestSchema] = latestForms.size < maxLatestForms ? [] : latestForms.keys()
  if (oldestSchema !== undefined) latestForms.delete(oldestSchema)
  latestForms.set(schema, compiledForm)
}

/** A form that was made of a schema with some key, and the schemas of this key since. */
interface RememberedForm {
  readonly requestedSchema: RequestedSchema
  readonly createCheckFor: NonNullable<CompiledForm['createCheckFor']>
  rebuildCount: number
}

const formsByKey = new Map<string, RememberedForm>()

/** The number of forms that are remembered by key, and the characters of a key: schemas may hold what a peer sent. */
const maxRememberedForms = 256
const maxKeyLength = 10_000

/** After so many, construction is no start-up or test, and costs more than all else that a round does. */
const rebuildWarningThreshold = 100

/** Returns the form of a schema of zod by those of equal schemas, undefined for a schema without a key. */
function reuseFormOfEqualSchema(schema: AnySchema, onRebuilt: () => void): Form<unknown> | undefined {
  const key = structureKeyOf(schema)
  if (key === undefined || key.length > maxKeyLength || !isZodSchema(schema)) return undefined
  const rememberedForm = formsByKey.get(key)
  if (rememberedForm === undefined) return rememberForm(key, compileForm(schema, 'form'))
  rememberedForm.rebuildCount++
  if (rememberedForm.rebuildCount === rebuildWarningThreshold) onRebuilt()
  return { requestedSchema: rememberedForm.requestedSchema, check: rememberedForm.createCheckFor(schema) }
}

function rememberForm(key: string, { requestedSchema, check, createCheckFor }: CompiledForm): Form<unknown> {
  const [oldestKey] = formsByKey.keys()
  if (formsByKey.size >= maxRememberedForms && oldestKey !== undefined) formsByKey.delete(oldestKey)
  if (createCheckFor !== undefined) formsByKey.set(key, { requestedSchema, createCheckFor, rebuildCount: 0 })
  return { requestedSchema, check }
}

const schemaTexts = new WeakMap<RequestedSchema, string>()

/** Returns a form's schema as JSON. Every run of a handler compares the text of its questions with the journal. */
export function schemaTextOf({ requestedSchema }: Form<unknown>): string {
  const knownText = schemaTexts.get(requestedSchema)
  if (knownText !== undefined) return knownText
  const text = JSON.stringify(requestedSchema)
  schemaTexts.set(requestedSchema, text)
  return text
}

/** No schema has both: JSON Schema holds no functions, and no library calls a member so. */
function isForm(schema: AnySchema | Form<unknown>): schema is Form<unknown> {
  return 'requestedSchema' in schema && typeof schema.check === 'function'
}
