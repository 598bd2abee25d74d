/** Where the files are. */
export const paths: { readonly schema: URL; readonly examples: URL; readonly requirements: URL }

/** A JSON Schema of dialect 2020-12, of which only what the published one uses is named. */
export type PublishedSchema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: string | number
  readonly enum?: readonly string[]
  readonly format?: string
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly items?: PublishedSchema
  readonly anyOf?: readonly PublishedSchema[]
  readonly allOf?: readonly PublishedSchema[]
  readonly properties?: { readonly [name: string]: PublishedSchema }
  readonly required?: readonly string[]
  readonly additionalProperties?: PublishedSchema
}

/** The published JSON Schema. */
export function readSchema(): {
  readonly $schema: string
  readonly $defs: { readonly [name: string]: PublishedSchema }
}

/** A published example. */
export type Example = {
  /** The name of the definition that it is of. */
  readonly definition: string
  /** Its path under `examples/`. */
  readonly file: string
  readonly text: string
  readonly value: unknown
}

/** Every published example. */
export function examples(): readonly Example[]

/** A rule of the specification. */
export type Requirement = {
  readonly id: string
  readonly page: string
  readonly role: string
  readonly level: string
  readonly paraphrase: string
}

/** Every requirement, in the order of the specification's pages. */
export function requirements(): readonly Requirement[]
