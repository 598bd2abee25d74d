import type { JsonValue } from '@x/schema'

/** The parsed input of a field: a value, an error text, or nothing for an empty field. */
export type FieldReading = { readonly value: JsonValue } | { readonly issue: string } | 'empty'
