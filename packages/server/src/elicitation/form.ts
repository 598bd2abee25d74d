import { BoundedMap, checkArgument } from '@x/core'
import type { RequestedSchema } from '@x/schema'
import { type CompiledSchema, type AnySchema, compileSchema, type SchemaOutput } from '../json-schema/compile-schema.ts'
import type { CheckedValue } from '../json-schema/rejected-value.ts'
import { isZodSchema, type ZodSchema } from '../json-schema/zod-schema.ts'
import { structureKeyOf } from '../json-schema/zod-key.ts'
import type { Awaitable } from '../request/awaitable.ts'
import { formRules } from './form-validator.ts'
import { requestedSchemaOf } from './requested-schema.ts'
import type { StandardTypedV1 } from '@standard-schema/spec'
import { DefinitionError } from '@x/exchange'

declare const answerType: unique symbol

/** A question's form, ready to be sent, with the check of its answer. Made by {@link form}. */
export interface Form<T> {
  /**
   * The schema that the client receives: frozen, and within the protocol's restricted subset of JSON Schema
   * (client/elicitation).
   */
  readonly requestedSchema: RequestedSchema
  /** Checks an accepted answer with the schema that the form was made from, transforms included. */
  readonly check: (content: unknown) => Awaitable<CheckedValue>
  /** The type that the handler receives. No form has this member at run time. */
  readonly [answerType]?: T
}

/** The type that a handler receives for an answer to a form, or to a schema. */
export type FormContentOf<S> = S extends Form<infer T> ? T : SchemaOutput<S>

/**
 * Converts a schema into the protocol's restricted form: a flat object of texts, numbers, booleans and choices
 * (client/elicitation, requested schema). Call it when the module loads: a schema that cannot be converted is then
 * found when the server starts, and not when a user waits.
 *
 * Clients see the input side of the schema, and the handler gets its output. Write constraints that the protocol cannot
 * express in `refine()`, which the server checks.
 *
 * Throws `DefinitionError` (`schema`) with the property and what is allowed, and `errorSubject` as its subject.
 *
 * @example
 * const contact = form(z.object({ email: z.email(), age: z.int().min(18).optional() }))
 */
export function form<S extends AnySchema>(schema: S, errorSubject = 'form'): Form<SchemaOutput<S>> {
  checkArgument(schema, { where: 'form', takes: 'a schema, as in form(z.object({ name: z.string() }))' })
  const { requestedSchema, check } = compileForm(schema, errorSubject)
  return Object.freeze({ requestedSchema, check })
}

function compileForm(
  schema: AnySchema,
  errorSubject: string,
): Pick<Form<unknown>, 'requestedSchema'> & Pick<CompiledSchema, 'check' | 'createCheckFor'> {
  const { jsonSchema, check, createCheckFor } = compileFormSchema(schema, (partSchema) =>
    compileSchema(partSchema, { errorSubject, side: 'input', rules: formRules }),
  )
  return { requestedSchema: requestedSchemaOf(jsonSchema, errorSubject), check, createCheckFor }
}

const maxLatestForms = 64

/** This many structures keep their forms, and keys are at most this long: they may contain data of a peer. */
const maxRememberedForms = 256
const maxKeyLength = 10_000

/**
 * After this many rebuilt schemas of one structure, a warning is logged. Start-up and tests create fewer, and
 * rebuilding takes longer than the rest of a round.
 */
const rebuildWarningThreshold = 100

/**
 * This process's forms. That of a schema object that was used twice lives as long as the object; of those used once,
 * the latest {@link maxLatestForms} are kept, and of equal structures at most {@link maxRememberedForms}.
 */
class FormCache {
  readonly #frequent = new WeakMap<object, Form<unknown>>()
  // A schema object that a handler creates in each run is never used again. A long-lived `WeakMap` or `Map` would keep
  // such objects until the next full garbage collection, so each new one takes the place of the oldest in an array.
  readonly #latestSchemas: (object | undefined)[] = Array.from({ length: maxLatestForms })
  readonly #latestForms: (Form<unknown> | undefined)[] = Array.from({ length: maxLatestForms })
  #nextLatest = 0
  readonly #compiledByKey = new BoundedMap<string, { readonly createForm: CreateForm; rebuildCount: number }>(
    maxRememberedForms,
  )

  get(schema: AnySchema, onRebuilt: () => void): Form<unknown> {
    const frequentForm = this.#frequent.get(schema)
    if (frequentForm !== undefined) return frequentForm
    const latestIndex = this.#latestSchemas.indexOf(schema)
    const latestForm = this.#latestForms[latestIndex]
    if (latestForm !== undefined) {
      this.#setLatest(latestIndex, undefined, undefined)
      this.#frequent.set(schema, latestForm)
      return latestForm
    }
    const newForm = this.#getByStructure(schema, onRebuilt) ?? form(schema)
    this.#setLatest(this.#nextLatest, schema, newForm)
    this.#nextLatest = (this.#nextLatest + 1) % maxLatestForms
    return newForm
  }

  #setLatest(index: number, schema: object | undefined, latestForm: Form<unknown> | undefined): void {
    this.#latestSchemas[index] = schema
    this.#latestForms[index] = latestForm
  }

  #getByStructure(schema: AnySchema, onRebuilt: () => void): Form<unknown> | undefined {
    const key = structureKeyOf(schema)
    if (key === undefined || key.text.length > maxKeyLength || !isZodSchema(schema)) return undefined
    const known = this.#compiledByKey.get(key.text)
    if (known !== undefined) {
      known.rebuildCount++
      if (known.rebuildCount === rebuildWarningThreshold) onRebuilt()
      return known.createForm(schema)
    }
    const { requestedSchema, check, createCheckFor } = compileForm(schema, 'form')
    const firstForm = { requestedSchema, check }
    if (createCheckFor === undefined) return firstForm
    const createForm: CreateForm = (equalSchema) =>
      key.hasCode ? { requestedSchema, check: createCheckFor(equalSchema) } : firstForm
    this.#compiledByKey.set(key.text, { createForm, rebuildCount: 0 })
    return firstForm
  }
}

type CreateForm = (schema: ZodSchema) => Form<unknown>

const formCache = new FormCache()

/**
 * Converts a schema into a form; a form stays as it is. Forms are cached by schema object, so a schema outside of the
 * handler is converted once. One that a handler creates in each run is found by its structure, and not converted again;
 * if it has code of its own, such as a `refine()`, it checks the answer itself. Throws like {@link form}.
 *
 * `onRebuilt` is called once for a structure that was created very often.
 */
export function formOf(schema: AnySchema | Form<unknown>, onRebuilt: () => void = () => {}): Form<unknown> {
  return isForm(schema) ? schema : formCache.get(schema, onRebuilt)
}

const schemaTexts = new WeakMap<RequestedSchema, string>()

/**
 * The form's schema as JSON text. Each run of a handler compares its questions' texts with the journal, so the text is
 * cached.
 */
export function schemaTextOf({ requestedSchema }: Form<unknown>): string {
  const knownText = schemaTexts.get(requestedSchema)
  if (knownText !== undefined) return knownText
  const text = JSON.stringify(requestedSchema)
  schemaTexts.set(requestedSchema, text)
  return text
}

/** No schema has both members, because JSON Schema contains no functions and no schema library uses these names. */
function isForm(schema: AnySchema | Form<unknown>): schema is Form<unknown> {
  return 'requestedSchema' in schema && typeof schema.check === 'function'
}

type FormCompiler = (schema: AnySchema) => CompiledSchema

/**
 * If a property cannot be converted to JSON Schema, such as a date, the error names it; zod's own error has only the
 * type.
 */
function compileFormSchema(schema: AnySchema, compile: FormCompiler): CompiledSchema {
  try {
    return compile(schema)
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error
    const name = readZodProperties(schema).find(([, property]) => isUncompilable(property, compile))?.[0]
    if (name === undefined) throw error
    // Advice for arguments would be a second one in the same sentence.
    const [problem = ''] = error.message.slice(`${error.subject}: `.length).split('; describe its JSON form')
    const reason = `property ${JSON.stringify(name)}: ${problem}; ask for a string, and turn it into what the handler needs with transform()`
    throw new DefinitionError('schema', error.subject, { reason, cause: error.cause })
  }
}

/** An object schema of zod stores its properties under `shape`. */
function readZodProperties(schema: object): [string, unknown][] {
  const hasShape = 'shape' in schema && typeof schema.shape === 'object' && schema.shape !== null
  return hasShape ? Object.entries(schema.shape ?? {}) : []
}

function isUncompilable(property: unknown, compile: FormCompiler): boolean {
  if (!isStandardSchema(property)) return false
  try {
    compile(property)
    return false
  } catch {
    return true
  }
}

function isStandardSchema(property: unknown): property is StandardTypedV1 {
  return typeof property === 'object' && property !== null && '~standard' in property
}
