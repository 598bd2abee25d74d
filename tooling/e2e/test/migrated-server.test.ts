import { once } from 'node:events'
import { findFreePort } from '@tooling/real-servers/free-port'
import { createClient } from '@x/client'
import { connectAny } from '@x/legacy/client'
import { expect, test } from 'vitest'
import { bundleProgram } from './child-program.ts'
import { startServer, stopServer } from './deployed-fleet.ts'

/** Starts a program and waits until it serves. */
async function serveProgram(source: URL): Promise<{ readonly url: string; close(): Promise<void> }> {
  const program = await bundleProgram(source)
  const port = await findFreePort()
  const server = startServer(program.path, { PORT: String(port) })
  await once(server.stdout ?? server, 'data')
  const close = async () => {
    await stopServer(server)
    await program[Symbol.asyncDispose]()
  }
  return { url: `http://127.0.0.1:${port}/mcp`, close }
}

const programs = {
  official: new URL('./interop/served-v1.ts', import.meta.url),
  migrated: new URL('./interop/served.ts', import.meta.url),
}

test.each<[string, '2026-07-28' | 'older', URL]>([
  ['of the official SDK v1', 'older', programs.official],
  ['moved to these packages', '2026-07-28', programs.migrated],
  ['moved to these packages, for an older client', 'older', programs.migrated],
])('a program %s offers the same features with the same results', async (_, revision, program) => {
  const served = await serveProgram(program)
  const connection = connectAny(served.url, { revision })
  const client = createClient(connection, {
    name: 'host',
    version: '1.0.0',
    elicit: () => ({ action: 'accept', content: { nights: 3 } }),
  })
  const progress: number[] = []
  const onProgress = (one: { readonly progress: number }) => void progress.push(one.progress)
  const booked = await client.callTool('book', { city: 'Oslo' })
  const found = await client.callTool('search', { city: 'Oslo' }, { onProgress })
  const missing = await client.callTool('search', { city: 'Rome' })
  const { messages } = await client.getPrompt('plan', { city: 'Bergen' })
  const cities = await client.readResource('travel://cities')
  const hotels = await client.readResource('travel://hotels/Bergen')
  expect([booked.content, found.content]).toEqual([
    [{ type: 'text', text: '3 nights in Oslo' }],
    [{ type: 'text', text: 'Amerikalinjen, The Thief' }],
  ])
  expect(missing).toMatchObject({ isError: true, content: [{ type: 'text', text: 'No hotels in Rome' }] })
  expect(progress).toEqual([1])
  expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Plan a trip to Bergen' } }])
  expect(cities.contents).toMatchObject([{ uri: 'travel://cities', text: 'Oslo\nBergen' }])
  expect(hotels.contents).toMatchObject([{ uri: 'travel://hotels/Bergen', text: 'Opus' }])
  await connection.close()
  await served.close()
})
