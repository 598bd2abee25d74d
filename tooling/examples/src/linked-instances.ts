import { legacy } from '@x/legacy/server'
import { createServer, type McpServer, sealedState, type Tool } from '@x/server'
import { postgresBus } from '@x/server/postgres'
import { postgresStore } from '@x/state-codec/postgres'
import type { Pool } from 'pg'

// #region link
/** One of any number of instances: older clients may reach each of them with each message. */
export function createLinkedInstance(pool: Pool, key: string, tools: readonly Tool[]): McpServer {
  const state = sealedState({ keys: [key] })
  const link = { store: postgresStore(pool), bus: postgresBus(pool) }
  return createServer({ name: 'tickets', version: '1.0.0', state, tools, extensions: [legacy({ link })] })
}
// #endregion link
