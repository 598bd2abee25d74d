import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { platformRuntime } from '@x/core'
import { tool } from '@x/server'
import type { PostgresPool } from '@x/server/postgres'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { postgresEngine } from '../../engines/postgres/postgres-engine.ts'
import { createFleet, createGate, type Instance, textOf } from '../../testing/fleet.ts'

let server: RealPostgres
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.close())

const names = Array.from({ length: 12 }, (_, index) => `task-${index}`)

test('after a fail-over that lost the claims every task completes, and no step has two keys [ENG-002]', async () => {
  const promoted = { pool: server.pool() }
  // Like a database name that resolves to another server after the fail-over.
  const pool: PostgresPool = {
    query: (query) => promoted.pool.query(query),
    connect: () => promoted.pool.connect(),
  }
  const gate = createGate()
  const effects = new Map<string, Set<string>>()
  const work = tool('work', {
    description: 'Works in two steps',
    input: z.object({ name: z.string() }),
    task: 'required',
    run: async ({ name }, ctx) => {
      const done = []
      for (const step of ['one', 'two'])
        done.push(
          await ctx.step(step, async ({ idempotencyKey }) => {
            const key = `${name} ${step}`
            effects.set(key, (effects.get(key) ?? new Set()).add(idempotencyKey))
            if (step === 'two') await gate.pass()
            return key
          }),
        )
      return done.join(', ')
    },
  })
  const add = (runWorker: boolean): Instance =>
    createFleet().add(
      [work],
      { store: postgresEngine(pool, { log: () => {} }), runtime: platformRuntime, runWorker },
      { strictReplay: false },
    )
  const accepting = add(false)
  const ids = await Promise.all(names.map((name) => accepting.start('work', { name })))
  const replica = await server.copy()
  const workers = [add(true), add(true)]
  await expect.poll(() => effects.size).toBe(2 * names.length)
  const before = promoted.pool
  promoted.pool = replica.pool()
  await server.kill()
  gate.open()
  const ended = async (): Promise<unknown[]> =>
    Promise.all(ids.map(async (id) => textOf((await accepting.see(id)).result)))
  await expect.poll(ended, { interval: 250 }).toEqual(names.map((name) => `${name} one, ${name} two`))
  expect([...effects.values()].map((keys) => keys.size)).toEqual(Array.from(effects, () => 1))
  await Promise.all([accepting, ...workers].map((instance) => instance.server.close()))
  await endPools([before, promoted.pool])
  await replica.close()
}, 150_000)

async function endPools(pools: readonly Pool[]): Promise<void> {
  await Promise.all(pools.map((pool) => pool.end()))
}

test('ten idle instances send less than two statements a second [ENG-006]', async () => {
  const database = await startPostgres()
  const connections = database.pool({ max: 20 })
  const seen = { statements: 0, pending: 0 }
  const counted: PostgresPool = {
    query: (query) => connections.query(query),
    connect: async () => {
      seen.pending++
      const connection = await connections.connect()
      connection.setMaxListeners(0)
      return {
        query: (query) => {
          seen.statements++
          return connection.query(query)
        },
        on: (event: string, listener: (value: never) => void) => connection.on(event as 'error', listener as never),
        release: (shouldDestroy) => {
          seen.pending--
          connection.release(shouldDestroy)
        },
      }
    },
  }
  const fleet = createFleet()
  const instances = Array.from({ length: 10 }, () =>
    fleet.add([], { store: postgresEngine(counted, { listenPool: connections }) }),
  )
  const settle = async (): Promise<void> => {
    do for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    while (seen.pending > 0)
  }
  await Promise.all(instances.map(({ server: instance }) => instance.ready()))
  await settle()
  const seconds = 120
  seen.statements = 0
  for (let second = 0; second < seconds; second++) {
    for (const { clock } of instances) clock.advance(1000)
    await settle()
  }
  // The listening connection of each instance sends another one in 30 seconds.
  const idle = seen.statements / seconds + instances.length / 30
  expect(idle).toBeGreaterThan(1)
  expect(idle).toBeLessThan(2)
  await Promise.all(instances.map((instance) => instance.server.close()))
  await connections.end()
  await database.close()
}, 150_000)
