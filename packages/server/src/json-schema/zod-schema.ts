import type { StandardSchemaV1 } from '@standard-schema/spec'

/** A zod schema, with the members that zod documents for library authors (zod.dev/library-authors). */
export interface ZodSchema {
  readonly _zod: {
    readonly def: {
      readonly type: string
      readonly coerce?: boolean
      readonly checks?: readonly ZodCheck[]
      readonly shape?: Readonly<Record<string, ZodSchema>>
      readonly catchall?: ZodSchema
      readonly element?: ZodSchema
      readonly keyType?: ZodSchema
      readonly valueType?: ZodSchema
      readonly items?: readonly ZodSchema[]
      readonly rest?: ZodSchema | null
      readonly options?: readonly ZodSchema[]
      readonly discriminator?: string
      readonly innerType?: ZodSchema
      readonly in?: ZodSchema
      readonly getter?: () => ZodSchema
    }
    /** Set if a member of an object with this schema may be absent. */
    readonly optin?: unknown
    readonly optout?: unknown
  }
  readonly '~standard': StandardSchemaV1.Props
}

/** A check of a zod schema, such as `min(1)`. */
export interface ZodCheck {
  readonly _zod: {
    readonly def: {
      readonly check: string
      readonly minimum?: number
      readonly maximum?: number
      readonly length?: number
    }
    /** They change the schema to which the check is attached. */
    readonly onattach?: unknown
  }
}

export function isZodSchema(schema: unknown): schema is ZodSchema {
  return typeof schema === 'object' && schema !== null && '_zod' in schema && '~standard' in schema
}
