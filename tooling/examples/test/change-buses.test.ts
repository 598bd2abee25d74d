import { testClient } from '@x/testing'
import { startPostgres } from '@tooling/real-servers/postgres'
import { startRedis } from '@tooling/real-servers/redis'
import { describeNeeding } from '@tooling/vitest/needs'
import { expect, test } from 'vitest'
import { connectPostgresBus, connectRedisBus, createTickets, type OpenBus } from '../src/change-buses.ts'
import { untilLeft } from './until-left.ts'

/** Writes a ticket at one instance, and gives what the client of another one is told, once it is. */
async function toldByAnother(connect: () => Promise<OpenBus>): Promise<unknown> {
  const [here, there] = [await connect(), await connect()]
  const client = testClient(createTickets(there.bus).server)
  for await (const event of client.listen({ resourceSubscriptions: ['ticket://1'] })) {
    if (event.type === 'opened') await createTickets(here.bus).write('1', 'It is out')
    if (event.type === 'resourceUpdated') break
  }
  const told = client.observations.changes[0]?.uri
  await here.close()
  await there.close()
  return told
}

describeNeeding('redis', 'the bus of the guide over Redis', (program) => {
  test('notifies the clients of every instance', async () => {
    const server = await startRedis(program)
    expect(await toldByAnother(() => connectRedisBus(server.url))).toBe('ticket://1')
    await server.close()
  })
})

test('the bus of the guide over PostgreSQL notifies the clients of every instance', async () => {
  const server = await startPostgres()
  expect(await toldByAnother(() => connectPostgresBus(server.url))).toBe('ticket://1')
  await untilLeft(server)
  await server.close()
}, 120_000)
