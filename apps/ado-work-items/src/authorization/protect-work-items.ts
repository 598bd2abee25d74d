import { protect, type Protection, requireScopes } from '@x/auth/server'
import type { ServerExtension } from '@x/schema'
import type { StateCodec } from '@x/server'
import { createStateTable, postgresStore } from '@x/state-codec/postgres'
import type { StateStore } from '@x/state-codec'
import pg from 'pg'
import type { Authorization, Configuration } from '../configuration.ts'
import { logError } from '../log-error.ts'

/** The scopes of the server's tokens. */
export const scopes = { read: 'work_items:read', write: 'work_items:write' } as const

/** The dependencies of the protection, which all instances share. */
export interface ProtectionParts {
  readonly state: StateCodec
  /** Remembers which DPoP proofs came. Default: this process does. */
  readonly proofs?: StateStore | undefined
}

/** Accepts tokens of the issuers for the endpoint, and those that are bound to a key with a proof that comes once. */
export function protectWorkItems(
  { resource, issuers, dpopRequired }: Authorization,
  { state, proofs }: ProtectionParts,
): Protection {
  return protect({
    resource,
    issuers,
    scopes: [scopes.read],
    supportedScopes: [scopes.read, scopes.write],
    impliedScopes: { [scopes.write]: [scopes.read] },
    dpop: { required: dpopRequired, usedProofs: proofs, state },
  })
}

const cleanUpMs = 600_000

/** Opens the store of DPoP proofs in the database that all instances share. */
async function openProofs(database: string, onError: (error: unknown) => void): Promise<StateStore> {
  const pool = new pg.Pool({ connectionString: database, max: 2 })
  // Without a listener, a connection that breaks while it is idle would end the process.
  pool.on('error', onError)
  // Instances that start at once may both create the table: the second one is then told that it is there.
  await createStateTable(pool).catch(() => createStateTable(pool))
  const store = postgresStore(pool)
  setInterval(() => store.removeExpiredRows().catch(onError), cleanUpMs).unref()
  return store
}

/** Protects an instance as its environment says. Returns undefined when no authorization server is configured. */
export async function protectInstance(configuration: Configuration): Promise<Protection | undefined> {
  const { authorization, state, tasksDatabase } = configuration
  if (authorization === undefined || state === undefined || tasksDatabase === undefined) return undefined
  const onError = (error: unknown): void => logError('authorization', error)
  const proofs = await openProofs(tasksDatabase, onError)
  return protectWorkItems(authorization, { state, proofs })
}

/** Rejects calls that change something without the scope for it. */
export function requireWriteScope(): ServerExtension<'scopes', undefined> {
  const changes = ['update_work_item', 'update_work_items', 'update_last_work_item']
  return requireScopes({ 'tools/call': Object.fromEntries(changes.map((name) => [name, [scopes.write]])) })
}
