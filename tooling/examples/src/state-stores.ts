import { createClient } from '@redis/client'
import type { StateStore } from '@x/state-codec'
import { createStateTable, type PostgresStore, postgresStore } from '@x/state-codec/postgres'
import { redisStore } from '@x/state-codec/redis'
import { Pool } from 'pg'

// #region redis
export async function connectRedisStore(url: string): Promise<StateStore> {
  const client = createClient({ url })
  client.on('error', (error) => console.error('redis', error))
  await client.connect()
  return redisStore(client, { prefix: 'tickets:' })
}
// #endregion redis

// #region postgres
export async function connectPostgresStore(connectionString: string): Promise<PostgresStore> {
  const pool = new Pool({ connectionString, connectionTimeoutMillis: 5000 })
  await createStateTable(pool)
  const store = postgresStore(pool)
  setInterval(() => store.removeExpiredRows().catch(console.error), 10 * 60_000).unref()
  return store
}
// #endregion postgres
