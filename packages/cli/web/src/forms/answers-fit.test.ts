import { type Server, serverOf } from '@x/exchange'
import type { PrimitiveSchemaDefinition, RequestedSchema } from '@x/schema'
import { testClient } from '@x/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openForm } from './form.ts'
import { questionFields, toContent } from './question-fields.ts'

const draftText = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom(
    '',
    'a',
    'b',
    '3',
    '-1',
    '2.5',
    '2026-07-28',
    '2026-02-30',
    'a@b.c',
    'https://a.b/',
    '2026-07-28T12:00',
  ),
)
const texts = ['date', 'date-time', 'email', 'uri', undefined] as const
const definition = fc.oneof<fc.Arbitrary<PrimitiveSchemaDefinition>[]>(
  fc.record({ type: fc.constant('string' as const), format: fc.constantFrom(...texts) }),
  fc.record({ type: fc.constant('string' as const), minLength: fc.nat(3), maxLength: fc.integer({ min: 3, max: 6 }) }),
  fc.record({ type: fc.constantFrom('number' as const, 'integer' as const), minimum: fc.integer({ min: -2, max: 2 }) }),
  fc.record({ type: fc.constant('string' as const), enum: fc.constant(['a', 'b']) }),
  fc.record({
    type: fc.constant('array' as const),
    items: fc.constant({ type: 'string' as const, enum: ['a', 'b', '3'] }),
    maxItems: fc.constantFrom(1, 2),
  }),
  fc.constant({ type: 'boolean' as const }),
)

// The client validates answers against the schema before it sends them. Input that the form accepts must pass.
// Otherwise the user would see an error without a visible cause.
test('what a form takes fits the schema that it was made from', async () => {
  let accepted = 0
  const filled = fc.array(fc.tuple(definition, draftText, fc.boolean(), fc.boolean()), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(filled, async (fields) => {
      const schema: RequestedSchema = {
        type: 'object',
        properties: Object.fromEntries(fields.map(([one], index) => [`field${index}`, one])),
        required: fields.flatMap(([, , isRequired], index) => (isRequired ? [`field${index}`] : [])),
      }
      const form = openForm(questionFields(schema))
      for (const [index, [one, draft, , isTicked]] of fields.entries()) {
        form.set(`field${index}`, one.type === 'boolean' ? isTicked : one.type === 'array' ? [draft] : draft)
      }
      const values = form.read()
      if (values === undefined) return
      accepted += 1
      const client = testClient(asking(schema), { answers: { one: toContent(values) } })
      expect((await client.callTool('ask')).content).toEqual([{ type: 'text', text: 'taken' }])
    }),
    // About one input in five is accepted. Of the default 100 runs, seven were once.
    { numRuns: 400 },
  )
  expect(accepted).toBeGreaterThan(10)
})

/** Creates a server that asks once and accepts any answer. */
function asking(requestedSchema: RequestedSchema): Server {
  const question = { method: 'elicitation/create', params: { mode: 'form', message: 'Well?', requestedSchema } }
  const exchange: Server['exchange'] = async ({ id, params }) => {
    const result =
      params !== undefined && 'inputResponses' in params
        ? { resultType: 'complete', content: [{ type: 'text', text: 'taken' }] }
        : { resultType: 'input_required', inputRequests: { one: question } }
    return { jsonrpc: '2.0', id, result }
  }
  return serverOf(exchange, { info: { name: 'asking', version: '1.0.0' }, localOnly: undefined })
}
