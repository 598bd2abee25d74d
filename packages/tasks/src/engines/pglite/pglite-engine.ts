import { errorListener } from '@x/core'
import { resolve } from 'node:path'
import type { TaskEngine } from '../engine.ts'
import { importPeerDependency, type SqlDatabase } from '../postgres/sql-database.ts'
import { type SqlEngineOptions, sqlEngine } from '../postgres/sql-engine.ts'
import { lockFolder } from './folder-lock.ts'
import { type Pglite, createPgliteDatabase } from './pglite-database.ts'

/**
 * An engine over PGlite, a PostgreSQL within this process: tasks in a folder, which survive the process and nothing has
 * to be installed for but npm packages. For development, and for servers that are one process. Takes the folder, or an
 * open database that the application has, which is not closed.
 *
 * The folder is opened when the engine is first used, which takes some seconds the first time. It is this process's
 * alone, by a file with `.lock` behind its name: a second one receives an error that names its process, and what a
 * killed process left is taken over. Needs the packages `@electric-sql/pglite` and `pg-boss`, in exactly the version
 * 12.35.0. Its authors support Node 22.12 and later. Throws `RangeError` for an option that makes no sense.
 *
 * @example
 * tasks({ engine: pgliteEngine('./.mcp-tasks', { leaseMs: 30_000 }) })
 */
export function pgliteEngine(database: string | Pglite, options: SqlEngineOptions = {}): TaskEngine {
  const { schema: channel = 'mcp_tasks' } = options
  const onError = errorListener(options.onError, '@x/tasks')
  if (typeof database === 'string')
    return sqlEngine(() => openPgliteFolder(resolve(database), channel, onError), options)
  return sqlEngine(async () => createPgliteDatabase(database, { channel, onError, end: async () => {} }), options)
}

async function openPgliteFolder(
  folder: string,
  channel: string,
  onError: (error: unknown) => void,
): Promise<SqlDatabase> {
  const { PGlite } = await importPeerDependency('@electric-sql/pglite@0.5', () => import('@electric-sql/pglite'))
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
