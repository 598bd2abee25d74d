import { type HostileAnswer, toolsPage, result, textResult } from './hostile-answers.ts'

/** Responds with a tool that has an output schema, and then with a result of that tool. */
const checked = (outputSchema: unknown, structuredContent: unknown): HostileAnswer['answer'] =>
  result(({ method }) =>
    method === 'tools/list'
      ? toolsPage([{ name: 'hostile', inputSchema: { type: 'object' }, outputSchema }])
      : { ...textResult('x'), structuredContent },
  )
const evil = `${'a'.repeat(35)}!`
const pattern = '^(a+)+$'
/** A validator tries each level of a value twice, and rejects the innermost one. */
const recursiveAnyOf = {
  type: 'object',
  additionalProperties: { anyOf: [{ $ref: '#' }, { $ref: '#' }] },
}
/** Output schemas with a pattern of exponential time. A client never runs a pattern of a server. */
const costlyPatterns: readonly HostileAnswer[] = [
  ['pattern', { type: 'object', properties: { a: { type: 'string', pattern } } }, { a: evil }],
  ['pattern-properties', { type: 'object', patternProperties: { [pattern]: {} } }, { [evil]: 1 }],
  ['property-names', { type: 'object', propertyNames: { pattern } }, { [evil]: 1 }],
  ['alternation', { type: 'object', properties: { a: { type: 'string', pattern: '^(a|a)*$' } } }, { a: evil }],
  ['nested-pattern', { type: 'object', properties: { a: { anyOf: [{ not: { pattern: '(a*)*b' } }] } } }, { a: evil }],
].map(([name, schema, content]) => ({
  name: String(name),
  operation: 'checkedCall',
  expected: 'served',
  answer: checked(schema, content),
}))

/** Output schemas that apply many subschemas to a small value. */
const costlySchemas: readonly HostileAnswer[] = [
  ['reference', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } }, type: 'object' }, { a: 1 }],
  ['branches', branching(14), { a: 1 }],
  ['recursive-any-of', recursiveAnyOf, nested(16)],
].map(([name, schema, content]) => ({
  name: String(name),
  operation: 'checkedCall',
  expected: 'either',
  answer: checked(schema, content),
}))

/** Attacks with the schemas of tools. */
export const hostileSchemas: readonly HostileAnswer[] = [
  {
    name: 'wide-schema',
    size: 800,
    operation: 'checkedCall',
    expected: 'either',
    answer: (call) =>
      checked({ type: 'object', properties: { ...Array(call.size).fill({ type: 'string' }) } }, {})(call),
  },
  {
    name: 'deep-schema',
    size: 4000,
    operation: 'checkedCall',
    expected: 'either',
    answer: (call) =>
      checked(
        JSON.parse(
          `${'{"type":"array","items":'.repeat(Math.min(call.size, 60))}{}${'}'.repeat(Math.min(call.size, 60))}`,
        ),
        [],
      )(call),
  },
  {
    // A schema that reaches its work limit for one result is not applied to later results.
    name: 'recursive-any-of-again',
    operation: 'checkedCalls',
    expected: 'either',
    answer: checked(recursiveAnyOf, nested(30)),
  },
  ...costlyPatterns,
  ...costlySchemas,
]

/** Returns a short schema with two to the power of `levels` applications of its last subschema. */
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
