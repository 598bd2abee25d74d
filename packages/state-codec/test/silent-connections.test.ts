import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { startPostgres } from '@tooling/real-servers/postgres'
import { connectRedis, startRedis } from '@tooling/real-servers/redis'
import { describeNeeding } from '@tooling/vitest/needs'
import { expect, test } from 'vitest'
import type { StateStore } from '../src/node.ts'
import { createStateTable, postgresStore } from '../src/postgres.ts'
import { redisStore } from '../src/redis.ts'

type Target = { readonly path: string } | { readonly port: number }

/** A proxy that can forget its connections without closing them, as a firewall or a dead machine does. */
async function startForgetfulProxy(firstTarget: Target) {
  let target = firstTarget
  const sockets = new Set<Socket>()
  let isForgetful = false
  const server = createServer((near) => {
    const pair = isForgetful ? [near] : [near, connect(target)]
    for (const socket of pair) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    pair[1]?.pipe(near).pipe(pair[1])
    // Bytes that no program reads would never show that the other side has closed the connection.
    pair[0]?.resume()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** From now on, new connections lead there. */
    moveTo: (nextTarget: Target) => void (target = nextTarget),
    /** From now on bytes of all connections, open and new ones, are lost. */
    forget() {
      isForgetful = true
      for (const socket of sockets) socket.unpipe().resume()
    },
    /** New connections work again. */
    remember: () => void (isForgetful = false),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    },
  }
}

type ForgetfulProxy = Awaited<ReturnType<typeof startForgetfulProxy>>

const minute = 60_000

async function worksAfterSilence(store: StateStore, { forget, remember }: ForgetfulProxy): Promise<void> {
  // The driver's own limit for a new connection may be over first.
  const silence = /did not answer within 500 ms|timeout exceeded when trying to connect/
  const unavailable = { code: 'unavailable', detail: expect.stringMatching(silence) }
  await store.add('before', '1', minute)
  forget()
  // As many as a pool has connections: open ones that are lost, and others that are accepted and never answered.
  const lost = await Promise.allSettled(Array.from({ length: 10 }, () => store.get('before')))
  expect(lost).toEqual(
    lost.map(() => ({ status: 'rejected', reason: expect.objectContaining({ code: 'unavailable' }) })),
  )
  await expect(store.get('before')).rejects.toMatchObject(unavailable)
  remember()
  expect(await store.get('before')).toBe('1')
}

describeNeeding('redis', 'a store in Redis', (program) => {
  test('works again after its connection was silently lost, and connects anew if none of its own is answered', async () => {
    const redis = await startRedis(program)
    await using proxy = await startForgetfulProxy({ path: redis.path })
    const store = redisStore(`redis://127.0.0.1:${proxy.port}`, { timeoutMs: 500 })
    try {
      await worksAfterSilence(store, proxy)
    } finally {
      await store.close()
      await redis.close()
    }
  })

  test('leaves a primary that became a replica, and writes to the one to which its address leads now', async () => {
    const [old, next] = [await startRedis(program), await startRedis(program)]
    await using proxy = await startForgetfulProxy({ path: old.path })
    const store = redisStore(`redis://127.0.0.1:${proxy.port}`)
    const client = await connectRedis(old.path)
    try {
      await store.add('before', '1', minute)
      await client.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
      proxy.moveTo({ path: next.path })
      await expect(store.add('after', '1', minute)).rejects.toMatchObject({ code: 'unavailable' })
      expect(await store.add('after', '1', minute)).toBe(true)
    } finally {
      client.destroy()
      await store.close()
      await old.close()
      await next.close()
    }
  })
})

test('a store in PostgreSQL works again after all connections of its pool were silently lost', async () => {
  const database = await startPostgres()
  const address = new URL(database.url)
  await using proxy = await startForgetfulProxy({ port: Number(address.port) })
  address.port = String(proxy.port)
  const pool = database.pool({ port: proxy.port, connectionTimeoutMillis: 500 })
  const ownPool = postgresStore(address.href, { timeoutMs: 500 })
  try {
    await createStateTable(pool)
    for (const store of [postgresStore(pool, { timeoutMs: 500 }), ownPool]) await worksAfterSilence(store, proxy)
  } finally {
    await ownPool.close()
    await pool.end()
    await database.close()
  }
})
