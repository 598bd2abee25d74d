import { protect, type Protection, requireScopes } from '@x/auth/server'
import type { ServerExtension } from '@x/exchange'
import { createStateTable, postgresStore } from '@x/state-codec/postgres'
import type { StateStore } from '@x/state-codec'
import pg from 'pg'
import type { Configuration } from '../configuration.ts'
import { logError } from '../log-error.ts'

/** The scopes of the access tokens. */
export const scopes = { read: 'work_items:read', write: 'work_items:write' } as const

const cleanUpMs = 600_000

/** Opens the store of used DPoP proofs in the shared database. */
async function openProofs(database: string, onError: (error: unknown) => void): Promise<StateStore> {
  const pool = new pg.Pool({ connectionString: database, max: 2, connectionTimeoutMillis: 5000 })
  // Without a listener, an error on an idle connection would end the process.
  pool.on('error', onError)
  // When two instances create the table at the same time, one of them fails. Its second attempt finds the table.
  await createStateTable(pool).catch(() => createStateTable(pool))
  const store = postgresStore(pool)
  setInterval(() => store.removeExpiredRows().catch(onError), cleanUpMs).unref()
  return store
}

/**
 * Creates the protection of an instance from its configuration. It accepts tokens of the issuers. A token that is bound
 * to a key needs a DPoP proof, and each proof is accepted once. Returns undefined if no authorization server is
 * configured.
 */
export async function protectInstance(configuration: Configuration): Promise<Protection | undefined> {
  const { authorization, state, tasksDatabase } = configuration
  if (authorization === undefined || state === undefined || tasksDatabase === undefined) return undefined
  const { resource, issuers, dpopRequired } = authorization
  const usedProofs = await openProofs(tasksDatabase, (error) => logError('authorization', error))
  return protect({
    resource,
    issuers,
    scopes: [scopes.read],
    supportedScopes: [scopes.read, scopes.write],
    impliedScopes: { [scopes.write]: [scopes.read] },
    dpop: { required: dpopRequired, usedProofs, state },
  })
}

/** Creates the extension that rejects calls of changing tools without the scope `work_items:write`. */
export function requireWriteScope(): ServerExtension<'scopes', undefined> {
  const changes = ['update_work_item', 'update_work_items', 'update_last_work_item']
  return requireScopes({ 'tools/call': Object.fromEntries(changes.map((name) => [name, [scopes.write]])) })
}
