import { setTimeout } from 'node:timers/promises'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { isJsonObject, type JsonObject } from '@x/schema'
import { postgresEngine } from '@x/tasks/postgres'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChildProgram, childProgram } from './child-program.ts'
import { type ProcessFleet, startProcessFleet } from './process-fleet.ts'

// `TASKS_CHAOS_SEED=… TASKS_CHAOS_COUNT=… pnpm vitest run test/tasks-chaos.test.ts` does the same again, as far as the
// machine lets it: what is chosen is the same, and when it happens to whom is as near as clocks are. CI makes 500 tasks.
const seed = Number(process.env['TASKS_CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const count = Number(process.env['TASKS_CHAOS_COUNT'] ?? 200)

/** The number of concurrent tasks. */
const clients = 40
const leaseMs = 1500

let server: RealPostgres
let pool: Pool
let program: ChildProgram

beforeAll(async () => {
  server = await startPostgres()
  pool = server.pool({ max: 3, connectionTimeoutMillis: 1000 })
  await pool.query(`CREATE TABLE effects (
    key text PRIMARY KEY, made text NOT NULL, nonce uuid NOT NULL DEFAULT gen_random_uuid(), runs integer NOT NULL DEFAULT 1
  )`)
  program = await childProgram(new URL('./programs/tasks-instance.ts', import.meta.url))
}, 60_000)
afterAll(async () => {
  await program?.[Symbol.asyncDispose]()
  await pool?.end()
  await server?.close()
})

/** Numbers from 0 to 1 that a seed decides, each of 32 bits (Mulberry32). */
function dice(from: number): () => number {
  let state = from >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A client's observations of its task. */
interface Ended {
  readonly name: string
  readonly taskId: string
  readonly color: string
  readonly wasCancelled: boolean
  /** The last answer of `tasks/get`. */
  readonly task: JsonObject
}

/**
 * Asks until there is a result: while the database is away, an instance answers with an error that says nothing of the
 * task.
 */
async function resultOf(fleet: ProcessFleet, method: string, params: JsonObject): Promise<JsonObject> {
  for (;;) {
    const { result, error } = await fleet.ask(method, params)
    if (isJsonObject(result)) return result
    if (!isJsonObject(error) || error['code'] !== -32603) throw new Error(`${method}: ${JSON.stringify(error)}`)
    await setTimeout(100)
  }
}

/** Makes a task. When no answer comes it may have been made nonetheless: then another is, of another name. */
async function makeTask(
  fleet: ProcessFleet,
  number: number,
): Promise<{ readonly name: string; readonly taskId: string }> {
  for (let tries = 0; ; tries++) {
    const name = `task-${number}.${tries}`
    const answer = await fleet.send('tools/call', { name: 'paint', arguments: { name } })
    const { result } = answer ?? {}
    if (isJsonObject(result) && result['resultType'] === 'task') return { name, taskId: String(result['taskId']) }
    await setTimeout(100)
  }
}

async function driveTask(fleet: ProcessFleet, number: number): Promise<Ended> {
  const throwDie = dice(seed + number)
  const cancelling = ['never', 'never', 'never', 'never', 'at once', 'when asked'][Math.floor(throwDie() * 6)]
  const color = `color-${Math.floor(throwDie() * 1000)}`
  const { name, taskId } = await makeTask(fleet, number)
  let wasCancelled = false
  const cancel = async (): Promise<void> => {
    await resultOf(fleet, 'tasks/cancel', { taskId })
    wasCancelled = true
  }
  if (cancelling === 'at once') await cancel()
  for (;;) {
    const task = await resultOf(fleet, 'tasks/get', { taskId })
    const { status, inputRequests } = task
    if (status !== 'working' && status !== 'input_required') return { name, taskId, color, wasCancelled, task }
    if (isJsonObject(inputRequests) && cancelling === 'when asked' && !wasCancelled) await cancel()
    else if (isJsonObject(inputRequests)) {
      const response = { action: 'accept', content: { color } }
      const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, response]))
      // Two at the same time, at different instances: one of them wakes the task.
      const bringing = [1, 2].map(() => resultOf(fleet, 'tasks/update', { taskId, inputResponses }))
      await Promise.all(bringing)
    }
    await setTimeout(100)
  }
}

/** Kills, stops and freezes instances and restarts the database, again and again, until it is told to stop. */
async function makeTrouble(fleet: ProcessFleet, isOver: () => boolean): Promise<readonly string[]> {
  const throwDie = dice(seed)
  const done: string[] = []
  while (!isOver()) {
    await setTimeout(300 + throwDie() * 700)
    const place = Math.floor(throwDie() * 3)
    const kind = throwDie()
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
      done.push('restart the database')
      await server.kill()
      await server.restart()
    }
  }
  return done
}

test(`tasks end once and right whatever happens to their processes and their database (TASKS_CHAOS_SEED=${seed})`, async () => {
  process.stdout.write(`TASKS_CHAOS_SEED=${seed} TASKS_CHAOS_COUNT=${count}\n`)
  await using fleet = await startProcessFleet(program.path, 3, {
    DATABASE_URL: server.url,
    LEASE_MS: String(leaseMs),
  })
  let left = count
  const ended: Ended[] = []
  const trouble = makeTrouble(fleet, () => ended.length === count)
  const drive = async (): Promise<void> => {
    while (left > 0) ended.push(await driveTask(fleet, left--))
  }
  await Promise.all(Array.from({ length: clients }, drive))
  const done = await trouble
  process.stdout.write(`${done.length} troubles: ${done.join(', ')}\n`)
  expect([done.length > 1, fleet.crashes]).toEqual([true, 0])

  // Every process works again, and whatever one of them still meant to write it has tried to.
  await setTimeout(leaseMs * 2)
  const kept = await effectsByStep()
  for (const { taskId, task, ...seen } of ended) {
    // The interval of polls grows with the task's age.
    expect(await resultOf(fleet, 'tasks/get', { taskId })).toEqual({ ...task, pollIntervalMs: expect.any(Number) })
    if (task['status'] === 'cancelled') expect(seen.wasCancelled).toBe(true)
    else expect([task['status'], textOf(task)]).toEqual(['completed', expectedText(seen, kept)])
  }
  expect(ended.filter(({ task }) => task['status'] === 'cancelled').length).toBeGreaterThan(0)
  await expectNothingLeft()
}, 1_200_000)

/** The one effect of each step; rejects when a step had two. */
async function effectsByStep(): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ made: string; nonce: string }>('SELECT made, nonce::text AS nonce FROM effects')
  const effects = new Map(rows.map(({ made, nonce }) => [made, nonce]))
  expect(effects.size).toBe(rows.length)
  return effects
}

function expectedText({ name, color }: Pick<Ended, 'name' | 'color'>, effects: ReadonlyMap<string, string>): string {
  const [one, two, three] = ['one', 'two', 'three'].map((step) => effects.get(`${name}/${step}`))
  return [name, one, two, color, three].join(' ')
}

function textOf({ result }: JsonObject): unknown {
  const content = isJsonObject(result) ? result['content'] : undefined
  const [block] = Array.isArray(content) ? content : []
  return isJsonObject(block) ? block['text'] : undefined
}

/** Lets the time of every task run out. */
async function expectNothingLeft(): Promise<void> {
  await pool.query('UPDATE mcp_tasks.task SET expires_at = statement_timestamp()')
  const engine = postgresEngine(server.url)
  while ((await engine.sweep()) > 0);
  await engine.claim(1000)
  await engine.close()
  for (const table of ['mcp_tasks.task', 'mcp_tasks.journal', 'mcp_tasks.answer', 'mcp_tasks_jobs.job']) {
    const { rows } = await pool.query(`SELECT * FROM ${table}`)
    expect(rows).toEqual([])
  }
}
