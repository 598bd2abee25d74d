import { resolve } from 'node:path'
import type { TaskEngine } from '../engine.ts'
import { importPeerDependency, type SqlDatabase } from '../postgres/sql-database.ts'
import { errorReporterOf, type SqlEngineOptions, sqlEngine } from '../postgres/sql-engine.ts'
import { lockFolder } from './folder-lock.ts'
import { type Pglite, createPgliteDatabase } from './pglite-database.ts'

/**
 * An engine over PGlite, a PostgreSQL within this process: tasks in a folder, which survive the process, without a
 * server to install. For development, and for servers that are one process. Takes the folder, or an open database of
 * the application, which is not closed.
 *
 * The first use opens the folder, which takes some seconds the first time. A file beside it, with `.lock` behind its
 * name, keeps other processes out. The error of a second process names the first one, and the folder of a killed
 * process is taken over. Needs the package `@electric-sql/pglite`. Throws `RangeError` for an invalid option.
 *
 * @example
 * tasks({ store: pgliteEngine('./.mcp-tasks', { leaseMs: 30_000 }) })
 */
export function pgliteEngine(database: string | Pglite, options: SqlEngineOptions = {}): TaskEngine {
  const { schema: channel = 'mcp_tasks' } = options
  const onError = errorReporterOf(options)
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
