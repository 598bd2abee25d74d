import { setTimeout } from 'node:timers/promises'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { postgresEngine } from '@x/tasks/postgres'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect } from 'vitest'
import { keys } from './asking.ts'
import { type ChildProgram, childProgram } from './child-program.ts'
import type { ProcessFleet } from './process-fleet.ts'

/** The lease of a task in chaos runs, in milliseconds: an instance that stands still for longer loses its tasks. */
export const leaseMs = 1500

/** Returns the environment of an instance of such a run. */
export function environmentOf({ url }: RealPostgres): NodeJS.ProcessEnv {
  return { DATABASE_URL: url, LEASE_MS: String(leaseMs), STATE_KEYS: keys.first }
}

/** Parts of a chaos run that all tests of a file use. */
export interface ChaosParts {
  readonly database: RealPostgres
  readonly pool: Pool
  readonly program: ChildProgram
}

/** Starts a database with the table of effects, and the program of an instance, before the tests of a file. */
export function startChaosParts(prepare: (pool: Pool) => Promise<void> = async () => {}): ChaosParts {
  let database: RealPostgres
  let pool: Pool
  let program: ChildProgram
  beforeAll(async () => {
    database = await startPostgres()
    pool = database.pool({ max: 3, connectionTimeoutMillis: 1000 })
    await createEffectsTable(pool)
    await prepare(pool)
    program = await childProgram(new URL('./programs/tasks-instance.ts', import.meta.url))
  }, 60_000)
  afterAll(async () => {
    await program?.[Symbol.asyncDispose]()
    await pool?.end()
    await database?.close()
  })
  return {
    get database() {
      return database
    },
    get pool() {
      return pool
    },
    get program() {
      return program
    },
  }
}

/** Makes the table of effects that stand once for each idempotency key. */
async function createEffectsTable(pool: Pool): Promise<void> {
  await pool.query(`CREATE TABLE effects (
    key text PRIMARY KEY, made text NOT NULL, nonce uuid NOT NULL DEFAULT gen_random_uuid(), runs integer NOT NULL DEFAULT 1
  )`)
}

/** Returns the one effect of each step; rejects when a step had two. */
export async function effectsByStep(pool: Pool): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ made: string; nonce: string }>('SELECT made, nonce::text AS nonce FROM effects')
  const effects = new Map(rows.map(({ made, nonce }) => [made, nonce]))
  expect(effects.size).toBe(rows.length)
  return effects
}

/** Processes and the store of their tasks, to which something happens. */
export interface Chaos {
  readonly fleet: ProcessFleet
  readonly database: { kill(): Promise<void>; restart(): Promise<void> }
  readonly throwDie: () => number
  readonly isOver: () => boolean
}

/** The name of a restart of the database among the troubles. */
export const databaseRestart = 'restart the database'

/**
 * Kills, stops and freezes instances and restarts the database, again and again, until it is over. The second trouble
 * is a restart of the database, so that a short run has one.
 */
export async function makeTrouble({ fleet, database, throwDie, isOver }: Chaos): Promise<readonly string[]> {
  const done: string[] = []
  while (!isOver()) {
    await setTimeout(300 + throwDie() * 700)
    const place = Math.floor(throwDie() * 3)
    const kind = done.length === 1 ? 1 : throwDie()
    if (kind < 0.3) {
      done.push(`kill ${place}`)
      await fleet.replace(place)
    } else if (kind < 0.45) {
      done.push(`stop ${place}`)
      expect(await fleet.stop(place)).toBe(0)
      await fleet.replace(place)
    } else if (kind < 0.85) {
      done.push(`freeze ${place}`)
      await fleet.freeze(place, leaseMs * (1.5 + throwDie()))
    } else {
      done.push(databaseRestart)
      await database.kill()
      await database.restart()
    }
  }
  return done
}

/** Lets the time of every task run out, and rejects when anything is left of one. */
export async function expectNoTaskLeft(database: RealPostgres, pool: Pool): Promise<void> {
  await pool.query('UPDATE mcp_tasks.task SET expires_at = statement_timestamp()')
  const engine = postgresEngine(database.url)
  while ((await engine.deleteExpiredTasks()) > 0);
  await engine.claim({ maxClaims: 1000 })
  await engine.close()
  for (const table of ['mcp_tasks.task', 'mcp_tasks.journal', 'mcp_tasks.answer']) {
    const { rows } = await pool.query(`SELECT * FROM ${table}`)
    expect(rows).toEqual([])
  }
}
