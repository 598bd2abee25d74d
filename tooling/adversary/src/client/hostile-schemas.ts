import { type HostileAnswer, listed, result, said } from './hostile-answers.ts'

/** A tool of a schema, and then a result that the schema is applied to. */
const checked = (outputSchema: unknown, structuredContent: unknown): HostileAnswer['answer'] =>
  result(({ method }) =>
    method === 'tools/list'
      ? listed([{ name: 'hostile', inputSchema: { type: 'object' }, outputSchema }])
      : { ...said('x'), structuredContent },
  )
const evil = `${'a'.repeat(35)}!`
const pattern = '^(a+)+$'
/** Each level of a value is tried twice, and nothing accepts the innermost one. */
const recursiveAnyOf = {
  type: 'object',
  additionalProperties: { anyOf: [{ $ref: '#' }, { $ref: '#' }] },
}
/** Schemas of tools with a pattern of exponential time. A client never runs a pattern of a server. */
const costlyPatterns: readonly HostileAnswer[] = [
  ['pattern', { type: 'object', properties: { a: { type: 'string', pattern } } }, { a: evil }],
  ['pattern-properties', { type: 'object', patternProperties: { [pattern]: {} } }, { [evil]: 1 }],
  ['property-names', { type: 'object', propertyNames: { pattern } }, { [evil]: 1 }],
  ['alternation', { type: 'object', properties: { a: { type: 'string', pattern: '^(a|a)*$' } } }, { a: evil }],
  ['nested-pattern', { type: 'object', properties: { a: { anyOf: [{ not: { pattern: '(a*)*b' } }] } } }, { a: evil }],
].map(([name, schema, content]) => ({
  name: String(name),
  operation: 'checkedCall',
  wanted: 'served',
  answer: checked(schema, content),
}))

/** Schemas of tools that apply many subschemas to a small value. */
const costlySchemas: readonly HostileAnswer[] = [
  ['reference', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } }, type: 'object' }, { a: 1 }],
  ['branches', branching(14), { a: 1 }],
  ['recursive-any-of', recursiveAnyOf, nested(16)],
].map(([name, schema, content]) => ({
  name: String(name),
  operation: 'checkedCall',
  wanted: 'either',
  answer: checked(schema, content),
}))

/** Attacks by the schemas of tools. */
export const hostileSchemas: readonly HostileAnswer[] = [
  {
    name: 'wide-schema',
    size: 800,
    operation: 'checkedCall',
    wanted: 'either',
    answer: (call) =>
      checked({ type: 'object', properties: { ...Array(call.size).fill({ type: 'string' }) } }, {})(call),
  },
  {
    name: 'deep-schema',
    size: 4000,
    operation: 'checkedCall',
    wanted: 'either',
    answer: (call) =>
      checked(
        JSON.parse(
          `${'{"type":"array","items":'.repeat(Math.min(call.size, 60))}{}${'}'.repeat(Math.min(call.size, 60))}`,
        ),
        [],
      )(call),
  },
  {
    // Once a result has used up the work of a schema, the schema is not applied again.
    name: 'recursive-any-of-again',
    operation: 'checkedCalls',
    wanted: 'either',
    answer: checked(recursiveAnyOf, nested(30)),
  },
  ...costlyPatterns,
  ...costlySchemas,
]

/** A schema of a few lines that is applied two to the power of `levels` times. */
function branching(levels: number): object {
  const $defs = Object.fromEntries(
    Array.from({ length: levels }, (_, level) => [
      `l${level}`,
      { allOf: [{ $ref: `#/$defs/l${level + 1}` }, { $ref: `#/$defs/l${level + 1}` }] },
    ]),
  )
  return { type: 'object', $ref: '#/$defs/l0', $defs: { ...$defs, [`l${levels}`]: { type: 'object' } } }
}

function nested(levels: number): object {
  let value: unknown = 1
  for (let level = 0; level < levels; level += 1) value = { a: value }
  return { a: value }
}
