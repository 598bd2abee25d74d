import { type McpServer, resourceTemplate } from '@x/server'
import { testClient } from '@x/testing'
import { startPostgres } from '@tooling/real-servers/postgres'
import { startRedis } from '@tooling/real-servers/redis'
import { describeNeeding } from '@tooling/vitest/needs'
import { expect, test } from 'vitest'
import { createTickets, createTicketsOnPostgres } from '../src/change-buses.ts'
import { untilDisconnected } from './until-disconnected.ts'

const texts = new Map([['1', 'The printer is on fire']])
const templates = [resourceTemplate('ticket://{id}', { name: 'Ticket', read: ({ id }) => texts.get(id) ?? '' })]

/** Changes a ticket at one instance, and returns the URI that the client of another instance receives. */
async function notifiedByAnother(createInstance: () => Promise<McpServer>): Promise<unknown> {
  const [here, there] = [await createInstance(), await createInstance()]
  const client = testClient(there)
  for await (const event of client.listen({ resourceSubscriptions: ['ticket://1'] })) {
    if (event.type === 'opened') {
      texts.set('1', 'It is out')
      await here.notifyResourceUpdated('ticket://1')
    }
    if (event.type === 'resourceUpdated') break
  }
  const notified = client.observations.changes[0]?.uri
  await here.close()
  await there.close()
  return notified
}

describeNeeding('redis', 'the bus of the guide over Redis', (program) => {
  test('notifies the clients of every instance', async () => {
    const server = await startRedis(program)
    expect(await notifiedByAnother(() => createTickets(server.url, templates))).toBe('ticket://1')
    await server.close()
  })
})

test('the bus of the guide over PostgreSQL notifies the clients of every instance', async () => {
  const server = await startPostgres()
  expect(await notifiedByAnother(async () => createTicketsOnPostgres(server.url, templates))).toBe('ticket://1')
  await untilDisconnected(server)
  await server.close()
})
