import { importPeerDependency, resolveOptions } from '@x/core'
import { type LockLimits, lockFile, type LockOwner } from '@x/core/node'
import { mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, resolve } from 'node:path'
import type { TaskEngine } from '../engine.ts'
import type { SqlDatabase } from '../postgres/sql-database.ts'
import { createLoggedEngine, errorReporterOf } from '../lazy-engine.ts'
import { type SqlEngineOptions, sqlEngine, sqlOptionTable } from '../postgres/sql-engine.ts'
import { type Pglite, createPgliteDatabase } from './pglite-database.ts'

/**
 * Stores tasks in a folder, with PGlite, which is PostgreSQL within this process: they survive the process, and need no
 * database server. Use it for development, and for servers with one process. Takes the folder, or an open database of
 * the application, which is not closed.
 *
 * The first call opens the folder, which takes some seconds if it is new. A lock file beside it, whose name ends in
 * `.lock`, keeps other processes out; the error in a second process names the first. A killed process's lock is
 * replaced if the host name is the same. With another host name, such as that of an earlier container, you must delete
 * it by hand. Needs the package `@electric-sql/pglite`. Throws `RangeError` for an invalid option.
 *
 * @example
 * tasks({ store: pgliteEngine('./.mcp-tasks', { leaseMs: 30_000 }) })
 */
export function pgliteEngine(database: string | Pglite, options: SqlEngineOptions = {}): TaskEngine {
  const resolved = resolveOptions(options, sqlOptionTable, 'pgliteEngine')
  return createLoggedEngine(resolved, (logged) => {
    const { schema: channel } = logged
    const onError = errorReporterOf(logged, 'PGlite')
    if (typeof database === 'string')
      return sqlEngine(() => openPgliteFolder(resolve(database), channel, onError), logged)
    return sqlEngine(async () => createPgliteDatabase(database, { channel, onError, end: async () => {} }), logged)
  })
}

async function openPgliteFolder(
  folder: string,
  channel: string,
  onError: (error: unknown) => void,
): Promise<SqlDatabase> {
  const { PGlite } = await importPeerDependency(
    '@electric-sql/pglite@0.5',
    () => import('@electric-sql/pglite'),
    'This engine',
  )
  const unlock = await lockFolder(folder)
  try {
    const pglite = await PGlite.create(folder)
    const closeFolder = async (): Promise<void> => {
      await pglite.close()
      await unlock()
    }
    return createPgliteDatabase(pglite, { channel, onError, end: closeFolder })
  } catch (error) {
    await unlock()
    throw error
  }
}

/** Only the end of a process frees its folder: two processes would destroy the database. */
const folderLimits: LockLimits = { elsewhereMs: Infinity, runningMs: Infinity }

/** Locks a folder for this process by a file beside it, and resolves with the function that unlocks it. */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = `${folder}.lock`
  await mkdir(dirname(folder), { recursive: true })
  return lockFile(path, folderLimits, async (owner) => {
    throw lockedFolderError(folder, path, owner)
  })
}

function lockedFolderError(folder: string, path: string, owner: LockOwner | undefined): Error {
  if (owner?.pid === process.pid && owner.host === hostname())
    return new Error(`${folder} is already open in this process: use one engine for the whole process`)
  const ownerLabel = owner === undefined ? 'another process' : `process ${owner.pid} on ${owner.host}`
  const advice = `Stop that process, or give this one another folder (postgresEngine is for several processes); if it has ended and this stays, delete ${path}`
  return new Error(`${folder} is open in ${ownerLabel}, and PGlite is for one process. ${advice}`)
}
