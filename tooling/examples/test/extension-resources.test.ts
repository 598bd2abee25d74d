import { createClient } from '@x/client'
import { createServer } from '@x/server'
import { expect, test } from 'vitest'
import { releaseNotes } from '../src/extension-resources.ts'

test('an extension serves resources, and notifies subscribers of a new one', async () => {
  const server = createServer({ name: 'demo', version: '1.0.0', extensions: [releaseNotes()] })
  const client = createClient(server, { name: 'host', version: '1.0.0' })
  const events = client.listen({ resourcesListChanged: true })[Symbol.asyncIterator]()
  expect((await events.next()).value).toMatchObject({ type: 'opened' })
  await server.notes.add('1.2.0', 'Faster')
  expect((await events.next()).value).toEqual({ type: 'resourcesListChanged' })
  await events.return?.()
  expect(await client.listResources()).toEqual([{ uri: 'notes://1.2.0', name: 'notes://1.2.0' }])
  expect((await client.readResource('notes://1.2.0')).contents).toMatchObject([{ text: 'Faster' }])
})
