/**
 * Stores tasks in a folder, with PGlite.
 *
 * @module @x/tasks/pglite
 */

export { pgliteEngine } from './engines/pglite/pglite-engine.ts'
export type { Pglite, PgliteQueries } from './engines/pglite/pglite-database.ts'
export type { SqlEngineOptions } from './engines/postgres/sql-engine.ts'
