import { connectRedis } from '@tooling/real-servers/redis'
import type { ChangeBus } from '@x/server'
import { postgresBus } from '@x/server/postgres'
import { redisBus } from '@x/server/redis'
import { memoryStore, type StateStore } from '@x/state-codec'
import { postgresStore } from '@x/state-codec/postgres'
import { redisStore } from '@x/state-codec/redis'
import { Pool } from 'pg'

const { REDIS_PATH, DATABASE_URL } = process.env

/** The store and the bus of an instance. */
export interface Parts {
  readonly store: StateStore
  readonly bus?: ChangeBus
  readonly close: () => Promise<unknown>
}

/** Opens the store and the bus of the environment. Without them, each process has its own store. */
export async function openParts(): Promise<Parts> {
  if (REDIS_PATH !== undefined) {
    const client = await connectRedis(REDIS_PATH)
    return { store: redisStore(client), bus: redisBus(client, { log: () => {} }), close: () => client.close() }
  }
  if (DATABASE_URL === undefined) return { store: memoryStore(), close: () => Promise.resolve() }
  const pool = new Pool({ connectionString: DATABASE_URL, max: 6, connectionTimeoutMillis: 1000 })
  pool.on('error', () => {})
  return { store: postgresStore(pool), bus: postgresBus(pool, { log: () => {} }), close: () => pool.end() }
}
