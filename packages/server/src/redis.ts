/**
 * A bus of changes over Redis or Valkey: the one of `@x/core`.
 *
 * @module @x/server/redis
 */

export {
  BusError,
  type BusErrorCode,
  type Change,
  type ChangeBus,
  type ChangeListener,
  redisBus,
  type RedisBusOptions,
  type RedisClient,
  type RedisSubscriber,
  type NetworkBusOptions,
} from '@x/core/redis'
