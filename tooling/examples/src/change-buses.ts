import { createClient } from '@redis/client'
import { type ChangeBus, createServer, resourceTemplate, type McpServer } from '@x/server'
import { postgresBus } from '@x/server/postgres'
import { redisBus } from '@x/server/redis'
import { Pool } from 'pg'

/** A bus, and how to give back what it runs on. */
export interface OpenBus {
  readonly bus: ChangeBus
  readonly close: () => Promise<void>
}

// #region redis
export async function connectRedisBus(url: string): Promise<OpenBus> {
  const client = createClient({ url })
  client.on('error', (error) => console.error('redis', error))
  await client.connect()
  const bus = redisBus(client, { channel: 'tickets:changes', log: ({ message }) => console.error('bus', message) })
  return { bus, close: () => client.close() }
}
// #endregion redis

// #region postgres
export async function connectPostgresBus(connectionString: string): Promise<OpenBus> {
  // One connection listens while anybody does, so the pool needs two at least.
  const pool = new Pool({ connectionString, max: 10 })
  // pg ends the process when an idle connection breaks and the pool has no listener.
  pool.on('error', (error) => console.error('postgres', error))
  const bus = postgresBus(pool, { channel: 'tickets_changes', log: ({ message }) => console.error('bus', message) })
  return { bus, close: () => pool.end() }
}
// #endregion postgres

// #region serve
// Stands for the database that the instances share.
const texts = new Map([['1', 'The printer is on fire']])

/** One of any number of instances: what is changed at one, the clients of all are told. */
export function createTickets(bus: ChangeBus): { server: McpServer; write(id: string, text: string): Promise<void> } {
  const ticket = resourceTemplate('ticket://{id}', { name: 'Ticket', read: ({ id }) => texts.get(id) ?? '' })
  const server = createServer({
    name: 'tickets',
    version: '1.0.0',
    resourceTemplates: [ticket],
    subscriptions: { bus },
  })
  return {
    server,
    async write(id, text) {
      texts.set(id, text)
      await server.notifyResourceUpdated(`ticket://${id}`)
    },
  }
}
// #endregion serve
