/**
 * A bus of changes over Redis or Valkey: the one of `@x/core`.
 *
 * @module @x/server/redis
 */

export * from '@x/core/redis'
