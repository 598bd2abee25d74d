import { createClient } from '@redis/client'
import { createServer, type McpServer, type ResourceTemplate } from '@x/server'
import { postgresBus } from '@x/server/postgres'
import { redisBus } from '@x/server/redis'
import { Pool } from 'pg'

// #region redis
export async function createTickets(redisUrl: string, templates: readonly ResourceTemplate[]): Promise<McpServer> {
  const client = createClient({ url: redisUrl })
  client.on('error', (error) => console.error('redis', error))
  await client.connect()
  return createServer({
    name: 'tickets',
    version: '1.0.0',
    state: false,
    resourceTemplates: templates,
    subscriptions: { bus: redisBus(client, { channel: 'tickets:changes' }) },
    close: () => client.close(),
  })
}
// #endregion redis

/** Creates the same server with PostgreSQL. */
export function createTicketsOnPostgres(connectionString: string, templates: readonly ResourceTemplate[]): McpServer {
  // While there are subscriptions, one connection listens. So the pool requires at least two.
  const pool = new Pool({ connectionString, max: 10, connectionTimeoutMillis: 5000 })
  return createServer({
    name: 'tickets',
    version: '1.0.0',
    state: false,
    resourceTemplates: templates,
    subscriptions: { bus: postgresBus(pool, { channel: 'tickets_changes' }) },
    close: () => pool.end(),
  })
}
