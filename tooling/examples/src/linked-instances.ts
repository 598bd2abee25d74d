import { legacy } from '@x/legacy'
import { createServer, type McpServer, sealedState, type Tool } from '@x/server'
import { postgresBus } from '@x/server/postgres'
import { redisBus } from '@x/server/redis'
import { postgresStore } from '@x/state-codec/postgres'
import { redisStore } from '@x/state-codec/redis'
import type { Pool } from 'pg'

// #region link
/** Creates one of several instances. Each message of an older client may reach another instance. */
export function createLinkedInstance(pool: Pool, key: string, tools: readonly Tool[]): McpServer {
  return createServer({
    name: 'tickets',
    version: '1.0.0',
    state: sealedState({ keys: [key] }),
    tools,
    subscriptions: { bus: postgresBus(pool) },
    extensions: [legacy({ store: postgresStore(pool) })],
  })
}
// #endregion link

// #region redis
export function createRedisInstance(url: string, key: string, tools: readonly Tool[]): McpServer {
  return createServer({
    name: 'tickets',
    version: '1.0.0',
    state: sealedState({ keys: [key] }),
    tools,
    subscriptions: { bus: redisBus(url) },
    extensions: [legacy({ store: redisStore(url) })],
  })
}
// #endregion redis
