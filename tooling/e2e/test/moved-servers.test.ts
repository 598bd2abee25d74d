import { createClient } from '@x/client'
import { connectAny } from '@x/legacy/client'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { travel } from './interop/travel.ts'
import { travelV1 } from './interop/travel-v1.ts'
import { travelV2 } from './interop/travel-v2.ts'
import { serveOfficial } from './official-v1-server.ts'
import { serveOfficialV2 } from './official-v2-server.ts'

type Served = { readonly url: string; close(): Promise<unknown> }

test.each<[string, '2026-07-28' | 'older', () => Promise<Served>]>([
  ['the official SDK v1', 'older', () => serveOfficial(true, travelV1)],
  ['the official SDK v2', '2026-07-28', () => serveOfficialV2(travelV2())],
  ['these packages', '2026-07-28', () => serveHttp(travel())],
  ['these packages, for an older client', 'older', () => serveHttp(travel())],
])('the server of the migration guide, with %s, asks and books', async (_, revision, serve) => {
  const served = await serve()
  const connection = connectAny(served.url, { revision })
  const client = createClient(connection, {
    name: 'host',
    version: '1.0.0',
    elicit: () => ({ action: 'accept', content: { nights: 3 } }),
  })
  const { content } = await client.callTool('book', { city: 'Oslo' })
  expect(content).toEqual([{ type: 'text', text: '3 nights in Oslo' }])
  await connection.close()
  await served.close()
})
