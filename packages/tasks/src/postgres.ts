/**
 * Stores tasks in PostgreSQL.
 *
 * @module @x/tasks/postgres
 */

export { postgresEngine, type PostgresEngineOptions } from './engines/postgres/postgres-engine.ts'
export type { SqlEngineOptions } from './engines/postgres/sql-engine.ts'
export type {
  PostgresConnection,
  PostgresNotification,
  PostgresPool,
  PostgresQuery,
} from '@x/server/postgres'
