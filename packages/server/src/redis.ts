/**
 * A bus of changes over Redis or Valkey: the one of `@x/core`.
 *
 * @module @x/server/redis
 */

export {
  BusError,
  type BusProblem,
  type Change,
  type ChangeBus,
  type ChangeListener,
  redisBus,
  type RedisBusOptions,
  type RedisClient,
  type RedisSubscriber,
  type WireOptions,
} from '@x/core/redis'
