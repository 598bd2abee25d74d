/**
 * The change bus over Redis or Valkey of `@x/core`.
 *
 * @module @x/server/redis
 */

export {
  BusError,
  type BusErrorCode,
  type Change,
  type ChangeBus,
  type ChangeListener,
  isBusError,
  redisBus,
  type RedisBusOptions,
  type RedisClient,
  type RedisSubscriber,
  type NetworkBus,
  type NetworkBusOptions,
} from '@x/core/redis'
