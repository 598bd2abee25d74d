import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { memoryEngine } from '@x/tasks/memory'
import { pgliteEngine } from '@x/tasks/pglite'
import { postgresEngine } from '@x/tasks/postgres'
import { fromPglite, PgBoss } from 'pg-boss'
import { startPostgres } from './postgres-server.ts'
import type { OpenEngine } from './task-runner.ts'

/** A store of tasks, and of the jobs of pg-boss. */
export interface Store {
  readonly name: string
  readonly openEngine: OpenEngine
  /** Opens pg-boss over the same database. Undefined for a store without a database. */
  readonly openBoss: (() => PgBoss) | undefined
  close(): Promise<void>
}

/** A store that is opened in its own folder. */
export interface StorePlan {
  readonly name: string
  open(folder: string): Promise<Store>
}

const settings = { schema: 'alone', useListenNotify: true, schedule: false } as const

/** The stores in the order of the report. */
export const stores: readonly StorePlan[] = [
  { name: 'memory', open: async () => memoryTaskStore() },
  { name: 'PGlite', open: openPglite },
  { name: 'PostgreSQL', open: openPostgres },
]

/** Returns a store in memory. Each engine starts empty. */
export function memoryTaskStore(): Store {
  return { name: 'memory', openEngine: () => memoryEngine(), openBoss: undefined, close: async () => {} }
}

async function openPglite(folder: string): Promise<Store> {
  const pglite = await PGlite.create(join(folder, 'pglite'))
  return {
    name: 'PGlite',
    openEngine: (log) => pgliteEngine(pglite, { log }),
    openBoss: () => new PgBoss({ ...settings, db: fromPglite(pglite), backend: 'pglite' }),
    close: () => pglite.close(),
  }
}

async function openPostgres(folder: string): Promise<Store> {
  const { url, stop } = await startPostgres(join(folder, 'postgres'))
  return {
    name: 'PostgreSQL',
    openEngine: (log) => postgresEngine(url, { log }),
    openBoss: () => new PgBoss({ ...settings, connectionString: url }),
    close: stop,
  }
}
