import { createCall, headerParamsKey, withContext } from '@x/exchange'
import { tool } from '@x/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { overEveryTransport, overTransportsWithHeaders } from './over-every-transport.ts'
import { send } from './raw-request.ts'

const deploy = tool('deploy', {
  description: 'Deploys to a region',
  input: z.object({
    region: z.string().meta({ 'x-mcp-header': 'Region' }),
    replicas: z.number().int().optional().meta({ 'x-mcp-header': 'Replicas' }),
    dry: z.boolean().optional().meta({ 'x-mcp-header': 'Dry' }),
  }),
  run: ({ region, replicas, dry }) => [region, replicas, dry].join(' '),
})

overEveryTransport('an argument with an x-mcp-header', (serve) => {
  test.each([
    [{ region: 'us-west1' }, 'us-west1  '],
    [{ region: 'eu', replicas: 42, dry: false }, 'eu 42 false'],
    [{ region: ' spaces around ' }, ' spaces around   '],
    [{ region: 'Zürich 漢字' }, 'Zürich 漢字  '],
    [{ region: '=?base64?SGVsbG8=?=' }, '=?base64?SGVsbG8=?=  '],
    [{ region: '' }, '  '],
    [{ region: 'line\r\nInjected: yes' }, 'line\r\nInjected: yes  '],
  ])('arrives unchanged: %j [SHT-037 SHT-050 SHT-051 SHT-052 SHT-056 SHT-057 SHT-066 SHT-067]', async (args, text) => {
    await using served = await serve({ tools: [deploy] })
    const { client } = served.connect()
    await client.listTools()
    expect((await client.callTool('deploy', args)).content).toEqual([{ type: 'text', text }])
  })

  test('needs no earlier list: the client lists the tools when the server rejects the missing header [SHT-060]', async () => {
    await using served = await serve({ tools: [deploy] })
    const { content } = await served.connect().client.callTool('deploy', { region: 'eu' })
    expect(content).toEqual([{ type: 'text', text: 'eu  ' }])
  })
})

overTransportsWithHeaders('a header that repeats an argument', (serve) => {
  test.each([
    ['another value', new Map([['Region', 'us']])],
    ['another case of the value', new Map([['Region', 'EU']])],
    ['an invalid encoding', new Map([['Region', '=?base64?%%%?=']])],
    [
      'a value for a missing argument',
      new Map([
        ['Region', 'eu'],
        ['Dry', 'true'],
      ]),
    ],
  ])('is rejected with %s [SHT-063 SHT-070 SHT-073 BAS-019]', async (_, headerParams) => {
    await using served = await serve({ tools: [deploy] })
    const call = { method: 'tools/call', params: { name: 'deploy', arguments: { region: 'eu' } } }
    const { response } = await send(served.connect().exchange, call, {
      context: withContext(createCall(), headerParamsKey, headerParams).context,
    })
    expect(response).toMatchObject({ id: 1, error: { code: -32020 } })
  })

  test('matches every spelling of an integer and every case of its name [SHT-069 SHT-071]', async () => {
    await using served = await serve({ tools: [deploy] })
    const call = { method: 'tools/call', params: { name: 'deploy', arguments: { region: 'eu', replicas: 42 } } }
    const headerParams = new Map([
      ['Region', 'eu'],
      ['Replicas', '42.0'],
    ])
    expect(
      (
        await send(served.connect().exchange, call, {
          context: withContext(createCall(), headerParamsKey, headerParams).context,
        })
      ).response,
    ).toHaveProperty('result')
  })
})
