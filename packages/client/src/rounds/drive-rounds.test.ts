import { type JsonObject, metaKeys } from '@x/schema'
import { expect, test } from 'vitest'
import { createClient } from '../create-client.ts'
import { host, said, scripted } from '../testing/scripted-exchange.ts'

test('smoke', async () => {
  const exchange = scripted(({ params }): JsonObject =>
    params.inputResponses === undefined
      ? {
          resultType: 'input_required',
          requestState: 's1',
          inputRequests: {
            name: {
              method: 'elicitation/create',
              params: { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
            },
          },
        }
      : said('done'),
  )
  const client = createClient(exchange, { ...host, elicit: () => ({ action: 'accept', content: { name: 'Ada' } }) })
  expect(await client.callTool('greet', { a: 1 })).toEqual(said('done'))
  expect(exchange.received[1]?.params).toEqual({
    name: 'greet',
    arguments: { a: 1 },
    inputResponses: { name: { action: 'accept', content: { name: 'Ada' } } },
    requestState: 's1',
  })
  expect(exchange.received[1]?.meta[metaKeys.clientCapabilities]).toEqual({ elicitation: { form: {} } })
})
