import { AsyncLocalStorage } from 'node:async_hooks'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { connectRedis, type RealRedis, startRedis, type TestClient } from '@tooling/real-servers/redis'
import { describeNeeding } from '@tooling/vitest/needs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ChangeBus, createServer, type McpServer, memoryBus, prompt, resource, tool } from '../src/index.ts'
import { postgresBus } from '../src/postgres.ts'
import { redisBus } from '../src/redis.ts'
import { waitForListenResult, type ListenStream, openListenStream } from '../src/testing/listening.ts'

const echo = tool('echo', { description: 'Says it again', run: () => 'again' })
const offers = {
  tools: [echo],
  prompts: [prompt('hello', { run: () => 'Hello' })],
  resources: ['text://a', 'text://b'].map((uri) => resource(uri, { name: uri, read: () => 'text' })),
}
const patient = { interval: 10 }

/** A fleet on a real server, in a test's hand. */
interface FleetUnderTest {
  /** A bus of each of three instances, with a connection of each one's own. */
  readonly buses: readonly [ChangeBus, ChangeBus, ChangeBus]
  /** Breaks every connection that listens, of every instance. */
  readonly breakListeners: () => Promise<unknown>
}

/** Changes of one caller reach streams of others outside of every caller's asynchronous context. */
function keepsContextsApart(buses: () => readonly ChangeBus[]): void {
  test('streams are notified outside of the asynchronous contexts of callers [LDG-008]', async () => {
    const storage = new AsyncLocalStorage<string>()
    const stores: unknown[] = []
    const notify = (): void => void stores.push(storage.getStore())
    const open = (bus: ChangeBus, index: number) => {
      const server = createServer({ name: 'demo', version: '1.0.0', ...offers, subscriptions: { bus } })
      return storage.run(`caller ${index}`, () => openListenStream(server, { toolsListChanged: true }, { notify }))
    }
    const [first = memoryBus(), ...others] = buses()
    const streams = await Promise.all([first, ...others].map(open))
    stores.length = 0
    await storage.run('another caller', () => first.publish({ topic: 'tools' }))
    await expect.poll(() => stores, patient).toEqual(streams.map(() => undefined))
    for (const { abort } of streams) abort()
    await Promise.all(streams.map(waitForListenResult))
  })
}

/** What clients of three instances see of each other's changes. */
function behavesAsOneServer(fleet: () => FleetUnderTest): void {
  const instances = (): [McpServer, McpServer, McpServer] => {
    const start = (bus: ChangeBus) =>
      createServer({ name: 'demo', version: '1.0.0', ...offers, subscriptions: { bus } })
    const [one, other, third] = fleet().buses
    return [start(one), start(other), start(third)]
  }
  /** Two streams at each instance: one of lists, one of a resource. */
  const streamsOf = async (
    servers: readonly McpServer[],
  ): Promise<{ lists: ListenStream[]; resources: ListenStream[] }> => {
    const lists = servers.map((server) =>
      openListenStream(server, { toolsListChanged: true, promptsListChanged: true }),
    )
    const resources = servers.map((server) => openListenStream(server, { resourceSubscriptions: ['text://a'] }))
    return { lists: await Promise.all(lists), resources: await Promise.all(resources) }
  }
  const end = async (streams: readonly ListenStream[]): Promise<void> => {
    for (const { abort } of streams) abort()
    await Promise.all(streams.map(waitForListenResult))
  }

  test('a change at one instance reaches the streams of every instance, and only those with the topic in their filter', async () => {
    const servers = instances()
    const { lists, resources } = await streamsOf(servers)
    const [one, other, third] = servers
    await one.notifyListChanged('tools')
    await other.notifyResourceUpdated('text://b')
    await other.notifyResourceUpdated('text://a')
    for (const { changes } of lists) await expect.poll(changes, patient).toEqual(['tools'])
    for (const { changes } of resources) await expect.poll(changes, patient).toEqual(['text://a'])
    third.update({ prompts: [] })
    for (const { changes } of lists) await expect.poll(changes, patient).toEqual(['tools', 'prompts'])
    await end([...lists, ...resources])
  })

  test('when the connections between the instances break, every stream is notified of all topics in its filter', async () => {
    const servers = instances()
    const { lists, resources } = await streamsOf(servers)
    await fleet().breakListeners()
    for (const { changes } of lists) await expect.poll(changes, patient).toEqual(['tools', 'prompts'])
    for (const { changes } of resources) await expect.poll(changes, patient).toEqual(['text://a'])
    await servers[1].notifyListChanged('tools')
    for (const { changes } of lists) await expect.poll(changes, patient).toEqual(['tools', 'prompts', 'tools'])
    await end([...lists, ...resources])
  })
}

describe('three instances over one bus in memory', () => {
  const bus = memoryBus()
  keepsContextsApart(() => [bus, bus, bus])
})

describeNeeding('redis', 'three instances over one Redis', (program) => {
  let server: RealRedis
  let clients: readonly [TestClient, TestClient, TestClient]
  beforeAll(async () => {
    server = await startRedis(program)
    const connect = () => connectRedis(server.path)
    clients = [await connect(), await connect(), await connect()]
  })
  afterAll(async () => {
    for (const client of clients) client.destroy()
    await server.close()
  })
  keepsContextsApart(() => clients.map((client) => redisBus(client)))
  behavesAsOneServer(() => {
    const [one, other, third] = clients
    return {
      buses: [redisBus(one), redisBus(other), redisBus(third)],
      breakListeners: () => one.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub']),
    }
  })
})

describe('three instances over one PostgreSQL', () => {
  let server: RealPostgres
  let pools: readonly [Pool, Pool, Pool]
  type Pool = ReturnType<RealPostgres['pool']>
  beforeAll(async () => {
    server = await startPostgres()
    pools = [server.pool(), server.pool(), server.pool()]
  })
  afterAll(async () => {
    for (const pool of pools) await pool.end()
    await server.close()
  })
  keepsContextsApart(() => pools.map((pool) => postgresBus(pool)))
  behavesAsOneServer(() => {
    const [one, other, third] = pools
    const killing = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`
    return {
      buses: [postgresBus(one), postgresBus(other), postgresBus(third)],
      breakListeners: () => one.query(killing),
    }
  })
})
