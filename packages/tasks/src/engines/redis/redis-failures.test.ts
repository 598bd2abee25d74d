import { readdir, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { connectRedis, type RealRedis, startRedis, type TestClient } from '@tooling/real-servers/redis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  claimOne,
  createClaimedTask,
  createNewTask,
  createRelease,
  sampleLifetimeMs,
  sampleOwner,
  sampleResult,
} from '../../contract/samples.ts'
import { writeAllWithLease } from '../../contract/work-tests.ts'
import { redisEngine } from './redis-engine.ts'

let server: RealRedis
const clients: TestClient[] = []
beforeEach(async () => {
  server = await startRedis('redis-server')
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  await server.close()
})

const done = { outcome: { status: 'completed', result: sampleResult }, lifetimeMs: sampleLifetimeMs } as const
const stepOne = createRelease({ entries: [{ member: 'steps', key: 'one', value: 1 }] })

/** The messages of a connection that broke, or that cannot be made. The moment decides between them. */
const away = /closed|ECONNREFUSED|did not answer/

async function openEngine(options: Parameters<typeof redisEngine>[1] = {}) {
  const client = await connectRedis(server.path)
  clients.push(client)
  return redisEngine(client, { log: () => {}, ...options })
}

test('a task completes although Redis is killed and restarted', async () => {
  const patient = await openEngine({ leaseMs: 60_000 })
  const engine = await openEngine({ leaseMs: 60_000, timeoutMs: 500 })
  const task = await createClaimedTask(patient)
  await patient.record(task, stepOne)
  await server.kill()
  await expect(engine.record(task, createRelease({ statusMessage: 'Half' }))).rejects.toThrow(away)
  await expect(engine.heartbeat([task])).rejects.toThrow(away)
  await server.restart()
  // Redis knows no script after a restart, so it gets the texts again.
  await expect.poll(() => engine.heartbeat([task]).catch(() => [])).toEqual(['owned'])
  expect((await patient.claim({ maxClaims: 10 })).tasks).toEqual([])
  expect(await patient.finish(task, done)).toBe(true)
  expect(await patient.get('a', sampleOwner)).toMatchObject({ status: 'completed', result: sampleResult })
  await Promise.all([patient.close(), engine.close()])
})

test('a listener is notified of work again after a restart of Redis', async () => {
  const [here, there] = [await openEngine(), await openEngine()]
  let heard = 0
  const cancelled: string[] = []
  await there.listen({ onWork: () => heard++, onCancel: (id) => cancelled.push(id) })
  await here.ping()
  await server.kill()
  await server.restart()
  // One call replaces the notifications that were lost in the meantime.
  await expect.poll(() => heard).toBe(1)
  await here.create(createNewTask('a'))
  await expect.poll(() => heard).toBe(2)
  await claimOne(there)
  await here.cancel('a', sampleOwner)
  await expect.poll(() => cancelled).toEqual(['a'])
  await Promise.all([here.close(), there.close()])
})

test('the wait for a Redis that does not answer has a time limit', async () => {
  const [patient, engine] = [await openEngine(), await openEngine({ timeoutMs: 300 })]
  const task = await createClaimedTask(patient)
  server.freeze()
  await expect(engine.record(task, stepOne)).rejects.toThrow('Redis did not answer within 300 ms')
  await expect(engine.ping()).rejects.toThrow('Redis did not answer within 300 ms')
  server.thaw()
  await expect.poll(() => engine.record(task, createRelease({ statusMessage: 'Half' }))).toBe('owned')
  await Promise.all([patient.close(), engine.close()])
})

/** Returns the file to which Redis appends each write, and its size. */
async function readAppendFile(): Promise<{ readonly path: string; readonly size: number }> {
  const folder = join(server.folder, 'appendonlydir')
  const name = (await readdir(folder)).find((file) => file.endsWith('.incr.aof'))
  if (name === undefined) throw new Error('Redis has no append-only file')
  const path = join(folder, name)
  return { path, size: (await stat(path)).size }
}

test('writes that Redis has lost are repeated, and the worker of a lost claim cannot write [ENG-001]', async () => {
  const engine = await openEngine()
  const early = await createClaimedTask(engine, 'early')
  await engine.record(early, stepOne)
  await engine.create(createNewTask('late'))
  const stored = await readAppendFile()
  const second = createRelease({ entries: [{ member: 'steps', key: 'two', value: 2 }] })
  expect(await engine.record(early, second)).toBe('owned')
  const lostClaim = await claimOne(engine)
  await engine.create(createNewTask('unconfirmed'))
  // A machine that loses its power has only what was written to the disk before.
  await server.kill()
  await truncate(stored.path, stored.size)
  await server.restart()
  await expect.poll(() => engine.ping().catch(String)).toBeUndefined()

  expect(await engine.get('unconfirmed', sampleOwner)).toBeUndefined()
  // The claim was lost, so two claims have the same number, and the token decides.
  const claim = await claimOne(engine)
  expect([claim.id, claim.attempt, lostClaim.attempt]).toEqual(['late', 1, 1])
  expect(await writeAllWithLease(engine, lostClaim)).toEqual(['lost', 'lost', 'lost', 'lost', false])
  expect(await engine.finish(claim, done)).toBe(true)
  // The earlier claim is still valid. The next claim has the step that was stored, and repeats the other one.
  expect(await engine.release(early, createRelease())).toBe('owned')
  expect((await claimOne(engine)).entries.map(({ key }) => key)).toEqual(['one'])
  await engine.close()
})
