import type { JsonValue } from '@x/schema'

/** What a field says when it is read: a value, a sentence on what is wrong, or nothing because nothing was filled in. */
export type FieldReading = { readonly value: JsonValue } | { readonly issue: string } | 'empty'
