/**
 * A bus of changes over PostgreSQL: the one of `@x/core`.
 *
 * @module @x/server/postgres
 */

export * from '@x/core/postgres'
