import * as z from 'zod'

/** The fields of every object of a row; a validator makes an issue for each that is missing. */
export const fieldNames = Array.from({ length: 10 }, (_, index) => `field${index}`)

const item = z.object(Object.fromEntries(fieldNames.map((name) => [name, z.string()])))
const wide = z.object(
  Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`field${index}`, index < 10 ? z.string() : z.string().default('')]),
  ),
)

/** The shapes of `rows`, by the name of the tool that takes them: none of them says how many there may be. */
export const bombs = {
  array: z.array(item),
  record: z.record(z.string(), item),
  union: z.array(z.union([item, item.extend({ kind: z.literal('other') })])),
  nested: z.array(z.object({ rows: z.array(item) })),
  // No JSON Schema says what these accept, so they can only be bounded by the count of issues.
  transform: z.array(item.transform((row) => Object.keys(row).length)),
  defaults: z.array(wide),
}
