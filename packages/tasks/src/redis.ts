/**
 * Stores tasks in Redis or Valkey.
 *
 * @module @x/tasks/redis
 */

export { redisEngine, type RedisEngineOptions } from './engines/redis/redis-engine.ts'
export type { RedisClient, RedisSubscriber } from '@x/core/redis'
