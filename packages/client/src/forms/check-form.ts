import { quoteText } from '@x/core'
import type { RequestedSchema } from '@x/schema'
import { describeFieldMismatch, type FieldValue, isFieldValue } from '@x/schema/internal'

/** An accepted form's content as the client sends it, or the path and reason of a mismatch. */
export type CheckedForm = { readonly content: { readonly [field: string]: FieldValue } } | { readonly issue: string }

/**
 * Checks an accepted form against its schema, and fills absent fields with their defaults. A field with the value
 * `undefined` stays empty (client/elicitation, requested schema). No reason contains the value.
 */
export function checkForm(schema: RequestedSchema, fieldValues: Readonly<Record<string, unknown>>): CheckedForm {
  const fields = new Map(Object.entries(schema.properties))
  const unknownField = Object.keys(fieldValues).find((name) => !fields.has(name))
  if (unknownField !== undefined) return { issue: `content ${quoteText(unknownField)}: the form has no such field` }
  const requiredNames = new Set(schema.required)
  const entries: [string, FieldValue][] = []
  for (const [name, field] of fields) {
    const value = Object.hasOwn(fieldValues, name) ? fieldValues[name] : field.default
    if (value === undefined) {
      if (requiredNames.has(name)) return { issue: `content ${quoteText(name)}: it is required` }
      continue
    }
    const expectedDescription = describeFieldMismatch(field, value)
    if (expectedDescription !== undefined)
      return { issue: `content ${quoteText(name)}: expected ${expectedDescription}` }
    if (isFieldValue(value)) entries.push([name, value])
  }
  // `fromEntries` defines members; an assignment to a field called `__proto__` would set the prototype.
  return { content: Object.fromEntries(entries) }
}
