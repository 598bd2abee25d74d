import { setTimeout } from 'node:timers/promises'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { sizeOf } from '@tooling/vitest/needs'
import { postgresEngine } from '@x/tasks/postgres'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect } from 'vitest'
import { keys } from './asking.ts'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import type { ProcessFleet } from './process-fleet.ts'

/** The lease of a task in chaos runs, in milliseconds. An instance that is frozen for longer loses its tasks. */
export const leaseMs = 1500

/** Returns the environment of an instance of a chaos run. */
export function environmentOf({ url }: RealPostgres): NodeJS.ProcessEnv {
  return { DATABASE_URL: url, LEASE_MS: String(leaseMs), STATE_KEYS: keys.first }
}

/** The database, pool and program that all tests of a file share. */
export interface ChaosParts {
  readonly database: RealPostgres
  readonly pool: Pool
  readonly program: ChildProgram
}

/** Starts a database with a table of effects, and bundles the program of an instance, before the tests of a file. */
export function startChaosParts(prepare: (pool: Pool) => Promise<void> = async () => {}): ChaosParts {
  let database: RealPostgres
  let pool: Pool
  let program: ChildProgram
  beforeAll(async () => {
    database = await startPostgres()
    pool = database.pool({ max: 3, connectionTimeoutMillis: 1000 })
    await createEffectsTable(pool)
    await prepare(pool)
    program = await bundleProgram(new URL('./programs/tasks-instance.ts', import.meta.url))
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

/** Creates the table of effects, which has one row per idempotency key. */
async function createEffectsTable(pool: Pool): Promise<void> {
  await pool.query(`CREATE TABLE effects (
    key text PRIMARY KEY, made text NOT NULL, nonce uuid NOT NULL DEFAULT gen_random_uuid(), runs integer NOT NULL DEFAULT 1
  )`)
}

/** Returns the one effect of each step. Rejects if a step has two effects. */
export async function effectsByStep(pool: Pool): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ made: string; nonce: string }>('SELECT made, nonce::text AS nonce FROM effects')
  const effects = new Map(rows.map(({ made, nonce }) => [made, nonce]))
  expect(effects.size).toBe(rows.length)
  return effects
}

/** The processes and the database of a chaos run. */
export interface Chaos {
  readonly fleet: ProcessFleet
  readonly database: { kill(): Promise<void>; restart(): Promise<void> }
  readonly random: () => number
}

/** The name of a database restart in the list of faults. */
export const databaseRestart = 'restart the database'

/** The first faults of a run are one of each kind. Those after them are chosen at random. */
const firstKinds = ['kill', databaseRestart, 'freeze', 'stop'] as const
const laterKinds = ['freeze', 'freeze', 'freeze', 'kill', 'kill', 'stop', databaseRestart] as const

/** Runs a load while instances are killed, stopped and frozen and the database is restarted. */
export async function runUnderFaults({ fleet, database, random }: Chaos, load: Load): Promise<readonly string[]> {
  return repeatFaults(load, async (faults) => {
    await setTimeout(300 + random() * 700)
    const index = Math.floor(random() * 3)
    const kind = firstKinds[faults.length] ?? laterKinds[Math.floor(random() * laterKinds.length)]
    if (kind === databaseRestart) {
      faults.push(kind)
      await database.kill()
      await database.restart()
      return
    }
    faults.push(`${kind} ${index}`)
    if (kind === 'freeze') return fleet.freeze(index, leaseMs * (1.5 + random()))
    if (kind === 'stop') expect(await fleet.stop(index)).toBe(0)
    await fleet.replace(index)
  })
}

/** The load of a chaos run. It continues at least until `isHit` returns true, so that a fast machine meets its faults. */
export type Load = (isHit: () => boolean) => Promise<void>

/**
 * The faults of a run. Each makes the load take longer, because what was lost is tried again after a pause: without an end
 * of the faults, a slow machine would meet ever more of them.
 */
const maxFaults = sizeOf({ change: 4, night: Number.POSITIVE_INFINITY })

/** Injects faults one after the other until the load ends, which is after the first two. Resolves to their names. */
export async function repeatFaults(
  load: Load,
  inject: (faults: string[]) => Promise<void>,
): Promise<readonly string[]> {
  const faults: string[] = []
  let isOver = false
  const injectAll = async (): Promise<void> => {
    while (!isOver && faults.length < maxFaults) await inject(faults)
  }
  const loaded = load(() => faults.length > 2).finally(() => (isOver = true))
  await Promise.all([loaded, injectAll()])
  return faults
}

/** Expires every task, and rejects if any row of a task remains. */
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
