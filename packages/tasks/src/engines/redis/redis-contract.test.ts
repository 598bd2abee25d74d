import { connectRedis, type RealRedis, startRedis, type TestClient } from '@tooling/real-servers/redis'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { passRedisTime } from '../../../test/pass-redis-time.ts'
import type { EngineUnderTest } from '../../contract/engine-under-test.ts'
import { engineContract } from '../../testing.ts'
import type { TaskEngine } from '../engine.ts'
import { redisEngine } from './redis-engine.ts'

let server: RealRedis
let client: TestClient
beforeAll(async () => {
  server = await startRedis('redis-server')
  client = await connectRedis(server.path)
})
afterAll(async () => {
  client.destroy()
  await server.close()
})

/** The engines of several instances, each with a separate client, over a Redis without keys. */
async function instances(): Promise<EngineUnderTest> {
  await client.sendCommand(['FLUSHALL'])
  const engines: TaskEngine[] = []
  const clients: TestClient[] = []
  return {
    open: async () => {
      const ownClient = await connectRedis(server.path)
      clients.push(ownClient)
      const engine = redisEngine(ownClient)
      engines.push(engine)
      return engine
    },
    advanceTime: (ms) => passRedisTime(client, '{mcp-tasks}:', ms),
    close: async () => {
      await Promise.all(engines.map((engine) => engine.close()))
      for (const ownClient of clients) ownClient.destroy()
    },
  }
}

describe('the engine over Redis passes the contract', () => {
  for (const { title, run } of engineContract(instances)) test(title, run)
})
