import { createServer, type McpServer } from '@x/server'
import { sessionsClient } from '@x/sessions/client'
import { memoryStore, randomKey } from '@x/state-codec'
import { testClient } from '@x/testing'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import * as programs from '../src/sessions.ts'

const keys = [randomKey()]
const clientOf = (server: McpServer) =>
  testClient(server, { extensions: [sessionsClient({ target: 'travel', user: null })] })
const text = (said: string) => [{ type: 'text', text: said }]

test('two conversations have separate trips over HTTP', async () => {
  await using http = await serveHttp(programs.createTravelServer(programs.defineTrips(), keys))
  expect(await programs.planTrips(http.url)).toEqual(text('2 nights in Oslo'))
})

test('a trip can be booked in its session after a city is chosen', async () => {
  const client = clientOf(programs.createTravelServer(programs.defineTrips(), keys))
  await using session = await client.sessions.create()
  await expect(session.callTool('book_trip')).rejects.toThrow('Unknown tool')
  await session.callTool('choose_city', { city: 'Faro' })
  expect((await session.callTool('book_trip')).content).toEqual(text('Booked: Faro'))
})

test('after a session in a store is revoked, the host creates a new one', async () => {
  const trips = programs.defineRevocableTrips(memoryStore())
  const server = programs.createTravelServer(trips, keys)
  const client = clientOf(server)
  const session = await client.sessions.create()
  await session.callTool('choose_city', { city: 'Faro' })
  expect(await programs.addNight(client.sessions, session)).toBe(session)
  await server.sessions.revoke(session.id)
  expect((await programs.addNight(client.sessions, session)).id).not.toBe(session.id)
})

test('of two concurrent calls, only one adds its night', async () => {
  const trips = programs.defineRevocableTrips(memoryStore())
  const tools = [programs.addNightCarefully(trips)]
  const server = createServer({ name: 'travel', version: '1', tools, strictReplay: false, extensions: [trips] })
  const session = await clientOf(server).sessions.create()
  const results = await Promise.all([session.callTool('add_night'), session.callTool('add_night')])
  expect(results.map(({ isError }) => isError === true).toSorted()).toEqual([false, true])
})

test('an editor is opened once for its session, and closed at its end', async () => {
  const events: string[] = []
  const openEditor = async () => {
    events.push('open')
    return { write: (said: string) => said, close: () => void events.push('close') }
  }
  const client = clientOf(programs.createEditorServer(keys, openEditor))
  {
    await using session = await client.sessions.create()
    for (const said of ['one', 'two']) await session.callTool('write', { text: said })
  }
  expect(events).toEqual(['open', 'close'])
})

test('a session is serialized, and resumed for the same user and server', async () => {
  await using http = await serveHttp(programs.createTravelServer(programs.defineTrips(), keys))
  const owner = { target: http.url, user: 'ada@example.com' }
  const server = programs.createTravelServer(programs.defineTrips(), keys)
  const client = testClient(server, { extensions: [sessionsClient(owner)] })
  const session = await client.sessions.create()
  await session.callTool('choose_city', { city: 'Faro' })
  const saved = JSON.stringify(session.serialize())
  const resumed = programs.resumeTrip(JSON.parse(saved), http.url)
  expect((await resumed.callTool('add_nights', { nights: 3 })).content).toEqual(text('3 nights in Faro'))
})
