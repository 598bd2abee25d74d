import { testClient } from '@x/testing'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { startRedis } from '@tooling/real-servers/redis'
import { describeNeeding } from '@tooling/vitest/needs'
import { expect, test } from 'vitest'
import { broadcastBus, connectPostgresBus, connectRedisBus, createTickets, type OpenBus } from '../src/change-buses.ts'

/** Writes a ticket at one instance, and gives what the client of another one is told, once it is. */
async function toldByAnother(connect: () => Promise<OpenBus>): Promise<unknown> {
  const [here, there] = [await connect(), await connect()]
  const client = testClient(createTickets(there.bus).server)
  for await (const event of client.listen({ resourceSubscriptions: ['ticket://1'] })) {
    if (event.type === 'opened') await createTickets(here.bus).write('1', 'It is out')
    if (event.type === 'resourceUpdated') break
  }
  const told = client.observed.changes[0]?.uri
  await here.close()
  await there.close()
  return told
}

describeNeeding('redis', 'the bus of the guide over Redis', (program) => {
  test('tells the clients of every instance', async () => {
    const server = await startRedis(program)
    expect(await toldByAnother(() => connectRedisBus(server.url))).toBe('ticket://1')
    await server.close()
  })
})

test('the bus of the guide over PostgreSQL tells the clients of every instance', async () => {
  const server = await startPostgres()
  expect(await toldByAnother(() => connectPostgresBus(server.url))).toBe('ticket://1')
  await untilLeft(server)
  await server.close()
}, 120_000)

/**
 * Waits until nobody is connected any more: pools have ended before their sockets are closed, and would be told of the
 * server's end.
 */
async function untilLeft(server: RealPostgres): Promise<void> {
  const pool = server.pool({ max: 1 })
  const others = `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`
  await expect.poll(async () => (await pool.query(others)).rows, { timeout: 20_000 }).toEqual([])
  await pool.end()
}

test('a bus of one’s own tells the clients of every instance', async () => {
  const connect = async (): Promise<OpenBus> => ({ bus: broadcastBus('tickets'), close: async () => {} })
  expect(await toldByAnother(connect)).toBe('ticket://1')
})
