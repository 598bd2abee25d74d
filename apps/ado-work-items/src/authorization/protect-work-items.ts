import { protect, type Protection, requireScopes } from '@x/auth/server'
import type { ServerExtension } from '@x/schema'
import type { StateCodec } from '@x/server'
import { createStateTable, postgresStore } from '@x/state-codec/postgres'
import pg from 'pg'
import type { Authorization } from '../configuration.ts'

/** The scopes of the server's tokens. */
export const scopes = { read: 'work_items:read', write: 'work_items:write' } as const

/** The dependencies of the protection, which all instances share. */
export interface ProtectionParts {
  readonly state: StateCodec
  /** The URL of the database that remembers which DPoP proofs came. */
  readonly database: string
  readonly onError: (error: unknown) => void
}

const cleanUpMs = 600_000

/** Accepts tokens of the issuers for the endpoint, and those that are bound to a key with a proof that comes once. */
export async function protectWorkItems(
  { resource, issuers, dpopRequired }: Authorization,
  { state, database, onError }: ProtectionParts,
): Promise<Protection> {
  const pool = new pg.Pool({ connectionString: database, max: 2 })
  // Without a listener, a connection that breaks while it is idle would end the process.
  pool.on('error', onError)
  // Instances that start at once may both create the table: the second one is then told that it is there.
  await createStateTable(pool).catch(() => createStateTable(pool))
  const used = postgresStore(pool)
  setInterval(() => used.removeExpired().catch(onError), cleanUpMs).unref()
  return protect({
    resource,
    issuers,
    scopes: [scopes.read],
    supported: [scopes.read, scopes.write],
    implies: { [scopes.write]: [scopes.read] },
    dpop: { required: dpopRequired, used, nonce: state },
    name: 'Azure DevOps work items',
    onError,
  })
}

/** Rejects calls that change something without the scope for it. */
export function requireWriteScope(): ServerExtension<'scopes', undefined> {
  const changes = ['update_work_item', 'update_work_items', 'update_last_work_item']
  return requireScopes({ 'tools/call': Object.fromEntries(changes.map((name) => [name, [scopes.write]])) })
}
