import * as z from 'zod'

/** The fields of every object of a row. A validator reports an issue for each missing one. */
export const fieldNames = Array.from({ length: 10 }, (_, index) => `field${index}`)

const item = z.object(Object.fromEntries(fieldNames.map((name) => [name, z.string()])))
const wide = z.object(
  Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`field${index}`, index < 10 ? z.string() : z.string().default('')]),
  ),
)

/** The schemas of `rows` by the name of their tool. None of them limits the number of rows. */
export const bombs = {
  array: z.array(item),
  record: z.record(z.string(), item),
  union: z.array(z.union([item, item.extend({ kind: z.literal('other') })])),
  nested: z.array(z.object({ rows: z.array(item) })),
  // No JSON Schema describes these two, so only the number of issues can be limited.
  transform: z.array(item.transform((row) => Object.keys(row).length)),
  defaults: z.array(wide),
}
