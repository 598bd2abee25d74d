import { checkArgument } from '@x/core'
import type { RequestedSchema } from '@x/schema'
import { type CompiledSchema, type AnySchema, compileSchema, type SchemaOutput } from '../json-schema/compile-schema.ts'
import type { CheckedValue } from '../json-schema/rejected-value.ts'
import { isZodSchema, type ZodSchema } from '../json-schema/zod-issues.ts'
import { type StructureKey, structureKeyOf } from '../json-schema/zod-key.ts'
import type { Awaitable } from '../request/awaitable.ts'
import { compileFormSchema } from './compile-form-schema.ts'
import { requestedSchemaOf } from './requested-schema.ts'

declare const answerType: unique symbol

/** The form of a question, ready to be sent, with the check of the answer. Made by {@link form}. */
export interface Form<T> {
  /**
   * The schema that the client receives: frozen, and within the protocol's restricted subset of JSON Schema
   * (client/elicitation).
   */
  readonly requestedSchema: RequestedSchema
  /** Checks the content of an accepted answer with the schema that the form was made from, transforms included. */
  readonly check: (content: unknown) => Awaitable<CheckedValue>
  /** The type that the handler receives. No form has this member at run time. */
  readonly [answerType]?: T
}

/** The type that a handler receives for an answer to a form, or to a schema. */
export type FormContentOf<S> = S extends Form<infer T> ? T : SchemaOutput<S>

/**
 * Converts a schema into the protocol's restricted form: a flat object of texts, numbers, booleans and choices
 * (client/elicitation, requested schema). Call it when the module loads. Then a schema that cannot be converted is
 * detected when the server starts, and not when a user waits.
 *
 * Clients see the input side of the schema, and the handler gets its output. Write constraints that the protocol cannot
 * express in `refine()`, which the server checks.
 *
 * Throws `DefinitionError` (`schema`) with the property and what is allowed. The subject of the error is
 * `errorSubject`.
 *
 * @example
 * const contact = form(z.object({ email: z.email(), age: z.int().min(18).optional() }))
 */
export function form<S extends AnySchema>(schema: S, errorSubject = 'form'): Form<SchemaOutput<S>> {
  checkArgument(schema, { where: 'form', takes: 'a schema, as in form(z.object({ name: z.string() }))' })
  const { requestedSchema, check } = compileForm(schema, errorSubject)
  return Object.freeze({ requestedSchema, check })
}

/** A form, with the function that creates the check for another schema of the same structure. */
interface CompiledForm {
  readonly requestedSchema: RequestedSchema
  readonly check: CompiledSchema['check']
  readonly createCheckFor: CompiledSchema['createCheckFor']
}

function compileForm(schema: AnySchema, errorSubject: string): CompiledForm {
  const { jsonSchema, check, createCheckFor } = compileFormSchema(schema, (partSchema) =>
    compileSchema(partSchema, { errorSubject, side: 'input' }),
  )
  return { requestedSchema: requestedSchemaOf(jsonSchema, errorSubject), check, createCheckFor }
}

/** The forms of schema objects that were used more than once. */
const formsBySchema = new WeakMap<object, Form<unknown>>()

/**
 * The latest schema objects that were used once, and their forms. A schema object that a handler creates in each run is
 * never used again. A long-lived `WeakMap` or `Map` would keep such objects until the next full garbage collection, so
 * these are arrays, in which each new object takes the place of the oldest.
 */
const latestSchemas: (object | undefined)[] = Array.from({ length: 64 })
const latestForms: (Form<unknown> | undefined)[] = Array.from({ length: latestSchemas.length })
let nextLatest = 0

/**
 * Returns a form unchanged, and converts a schema into a form. Forms are cached by the schema object, so that a schema
 * outside of the handler is converted once. A schema that a handler creates in each run is found by its structure, and
 * is not converted again. If it has code of its own, such as a `refine()`, it checks the answer itself. Throws like
 * {@link form}.
 *
 * `onRebuilt` is called once for a structure that was created very often.
 */
export function formOf(schema: AnySchema | Form<unknown>, onRebuilt: () => void = () => {}): Form<unknown> {
  if (isForm(schema)) return schema
  const frequentForm = formsBySchema.get(schema)
  if (frequentForm !== undefined) return frequentForm
  const latestIndex = latestSchemas.indexOf(schema)
  const latestForm = latestForms[latestIndex]
  if (latestForm !== undefined) {
    setLatestForm(latestIndex, undefined, undefined)
    formsBySchema.set(schema, latestForm)
    return latestForm
  }
  const newForm = reuseFormOfEqualSchema(schema, onRebuilt) ?? form(schema)
  setLatestForm(nextLatest, schema, newForm)
  nextLatest = (nextLatest + 1) % latestSchemas.length
  return newForm
}

function setLatestForm(index: number, schema: object | undefined, latestForm: Form<unknown> | undefined): void {
  latestSchemas[index] = schema
  latestForms[index] = latestForm
}

/** A form that was made of a schema, and the number of later schemas with the same key. */
interface RememberedForm {
  /** Creates the form of a later schema. A schema without code has the form of the first one. */
  readonly createFormFor: (schema: ZodSchema) => Form<unknown>
  rebuildCount: number
}

const formsByKey = new Map<string, RememberedForm>()

/**
 * The maximum number of forms that are cached by key, and the maximum length of a key. A schema may contain data of a
 * peer.
 */
const maxRememberedForms = 256
const maxKeyLength = 10_000

/**
 * The number of rebuilt schemas of one structure after which a warning is logged. Start-up and tests create fewer.
 * Rebuilding a schema takes longer than the rest of a round.
 */
const rebuildWarningThreshold = 100

/**
 * Returns the form of a zod schema, made from the cached form of an equal schema if there is one. Returns undefined for
 * a schema without a key.
 */
function reuseFormOfEqualSchema(schema: AnySchema, onRebuilt: () => void): Form<unknown> | undefined {
  const key = structureKeyOf(schema)
  if (key === undefined || key.text.length > maxKeyLength || !isZodSchema(schema)) return undefined
  const rememberedForm = formsByKey.get(key.text)
  if (rememberedForm === undefined) return rememberForm(key, compileForm(schema, 'form'))
  rememberedForm.rebuildCount++
  if (rememberedForm.rebuildCount === rebuildWarningThreshold) onRebuilt()
  return rememberedForm.createFormFor(schema)
}

function rememberForm(
  { text, hasCode }: StructureKey,
  { requestedSchema, check, createCheckFor }: CompiledForm,
): Form<unknown> {
  const firstForm = { requestedSchema, check }
  const [oldestKey] = formsByKey.keys()
  if (formsByKey.size >= maxRememberedForms && oldestKey !== undefined) formsByKey.delete(oldestKey)
  if (createCheckFor !== undefined) {
    const createFormFor = (schema: ZodSchema): Form<unknown> =>
      hasCode ? { requestedSchema, check: createCheckFor(schema) } : firstForm
    formsByKey.set(text, { createFormFor, rebuildCount: 0 })
  }
  return firstForm
}

const schemaTexts = new WeakMap<RequestedSchema, string>()

/**
 * Returns the schema of a form as JSON text. Each run of a handler compares the text of its questions with the journal,
 * so the text is cached.
 */
export function schemaTextOf({ requestedSchema }: Form<unknown>): string {
  const knownText = schemaTexts.get(requestedSchema)
  if (knownText !== undefined) return knownText
  const text = JSON.stringify(requestedSchema)
  schemaTexts.set(requestedSchema, text)
  return text
}

/**
 * Returns true if a value is a form. No schema has both members, because JSON Schema contains no functions and no
 * schema library uses these names.
 */
function isForm(schema: AnySchema | Form<unknown>): schema is Form<unknown> {
  return 'requestedSchema' in schema && typeof schema.check === 'function'
}
