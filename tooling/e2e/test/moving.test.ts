import { createClient } from '@x/client'
import { connectAny } from '@x/legacy/client'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { officialTravel, serveBoth } from './interop/moving.ts'
import { travel } from './interop/travel.ts'

test.each(['2026-07-28', 'older'] as const)(
  'a server whose tools are migrated one by one serves the migrated tools itself and the others from the official SDK, to a %s client',
  async (revision) => {
    await using http = await serveHttp(serveBoth(officialTravel(), travel(), new Set(['book'])))
    await using connection = connectAny(http.url, { revision })
    const client = createClient(connection, {
      name: 'host',
      version: '1.0.0',
      elicit: () => ({ action: 'accept', content: { nights: 3 } }),
    })
    const tools = await client.listTools()
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ['book', 'Books a trip'],
      ['weather', 'Returns the weather'],
    ])
    const book = await client.callTool('book', { city: 'Oslo' })
    const weather = await client.callTool('weather', { city: 'Oslo' })
    expect([book, weather].map(({ content }) => content[0])).toEqual([
      { type: 'text', text: '3 nights in Oslo' },
      { type: 'text', text: 'It rains in Oslo' },
    ])
  },
)
