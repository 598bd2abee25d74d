import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startScriptedAuthServer } from '@tooling/auth-server/scripted'
import { startPostgres } from '@tooling/real-servers/postgres'
import { type RealRedis, startRedis } from '@tooling/real-servers/redis'
import { describeNeeding, sizeOf } from '@tooling/vitest/needs'
import { createStateTable } from '@x/state-codec/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBalancer, startInstance } from './balanced-processes.ts'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import {
  answerTo,
  type ClientOutcome,
  openOutageClients,
  type OutageLoad,
  type RepeatedOutage,
  repeatOutage,
} from './outages.ts'

const outageCount = sizeOf({ change: 2, night: 16 })
/** The minimum of each client. It continues until the last outage is over. */
const callCount = sizeOf({ change: 2, night: 10 })
const changeCount = sizeOf({ change: 7, night: 50 })
const clientCount = sizeOf({ change: 8, night: 20 })
const instanceCount = 3

let program: ChildProgram
beforeAll(async () => {
  program = await bundleProgram(new URL('./programs/outage-instance.ts', import.meta.url))
})
afterAll(async () => {
  await program?.[Symbol.asyncDispose]()
})

interface OutageRun {
  /** The environment of the instance at an index. */
  readonly environment: (index: number) => NodeJS.ProcessEnv
  readonly headers?: OutageLoad['headers']
  readonly repeatsUnstarted?: boolean
  /** Happens while the load runs. */
  readonly outage?: Omit<RepeatedOutage, 'count'>
}

/** Runs the load behind a balancer that distributes requests in turn among ready instances, and checks the outcomes. */
async function runLoad({ environment, headers, repeatsUnstarted, outage }: OutageRun): Promise<void> {
  const effects = await mkdtemp(join(tmpdir(), 'outages-'))
  const instances = await Promise.all(
    Array.from({ length: instanceCount }, (_, index) =>
      startInstance(program.path, { EFFECTS: effects, ...environment(index) }),
    ),
  )
  const balancer = await startBalancer(instances)
  let isOver = false
  const load: OutageLoad = {
    url: balancer.url,
    headers: headers ?? ((caller) => ({ 'x-caller': caller })),
    calls: callCount,
    changes: changeCount,
    repeatsUnstarted,
    isOver: () => isOver,
  }
  try {
    await using clients = await openOutageClients(load, clientCount)
    const startedAt = performance.now()
    const faults = outage === undefined ? Promise.resolve() : repeatOutage({ count: outageCount, ...outage }, clients)
    const [outcomes] = await Promise.all([clients.run(), faults.finally(() => (isOver = true))])
    await expectNothingLost(outcomes, effects, Math.round(performance.now() - startedAt))
  } finally {
    balancer.stop()
    for (const { child, exited } of instances) {
      child.kill('SIGKILL')
      await exited
    }
    await rm(effects, { recursive: true })
  }
}

async function expectNothingLost(outcomes: readonly ClientOutcome[], effects: string, ms: number): Promise<void> {
  const calls = outcomes.flatMap((outcome) => outcome.calls)
  const changes = outcomes.flatMap((outcome) => outcome.changes)
  const repetitions = outcomes.reduce((sum, outcome) => sum + outcome.repetitions, 0)
  const failed = [...calls.map(([, text]) => text), ...changes].filter((text) => text.startsWith('failed: '))
  process.stdout.write(
    `${failed.length} lost of ${calls.length} calls and ${changes.length} changes in ${ms} ms, ${repetitions} repeated by the client\n`,
  )
  expect(failed).toEqual([])
  // Each change increments the count that the previous one left.
  for (const outcome of outcomes) expect(outcome.changes).toEqual(outcome.changes.map((_, at) => String(at + 1)))
  const effectsByKey = new Map<string, string>()
  for (const file of await readdir(effects))
    effectsByKey.set(Buffer.from(file, 'base64url').toString(), await readFile(join(effects, file), 'utf8'))
  expect(effectsByKey.size).toBe(calls.length * 3)
  for (const [name, text] of calls) {
    const [one, two, three] = ['one', 'two', 'three'].map((step) => effectsByKey.get(`${name}/${step}`))
    expect(text).toBe([one, answerTo(`${name}.1`), two, answerTo(`${name}.2`), three].join(' '))
  }
}

describeNeeding('redis', 'calls and changes of sessions with a Redis', (path) => {
  const withRedis = async (run: (redis: RealRedis) => Promise<void>): Promise<void> => {
    const redis = await startRedis(path)
    try {
      await run(redis)
    } finally {
      await redis.close()
    }
  }

  test('that stores every state and is restarted for 1.5 s repeatedly: none is lost or wrong [UNA-001 UNA-002 UNA-003]', () =>
    withRedis(async (redis) => {
      const environment = () => ({ REDIS_PATH: redis.path, KEEPS_STATES: 'yes' })
      await runLoad({ environment, outage: { begin: redis.kill, end: redis.restart } })
    }))

  test('that stores the results of keyed calls and restarts empty: none is lost or wrong [UNA-003]', () =>
    withRedis(async (redis) => {
      const environment = () => ({ REDIS_PATH: redis.path })
      await runLoad({ environment, outage: { begin: redis.kill, end: () => redis.restart({ isEmpty: true }) } })
    }))
})

test('calls and changes of sessions survive a PostgreSQL that stores every state and is restarted for 1.5 s repeatedly [UNA-001 UNA-002 UNA-003]', async () => {
  const database = await startPostgres()
  const pool = database.pool()
  try {
    await createStateTable(pool)
    const environment = () => ({ DATABASE_URL: database.url, KEEPS_STATES: 'yes' })
    await runLoad({ environment, outage: { begin: database.kill, end: database.restart } })
  } finally {
    await pool.end()
    await database.close()
  }
})

test('calls and changes of sessions survive an issuer that is unreachable for 1.5 s repeatedly, four times before it publishes a new key [UNA-001 UNA-003]', async () => {
  await using issuer = await startScriptedAuthServer({ aud: 'http://127.0.0.1/mcp' })
  const headers = async (caller: string) => ({
    authorization: `Bearer ${await issuer.sign({ claims: { sub: caller } })}`,
  })
  let outageNumber = 0
  // The issuer publishes four new keys. A server limits its requests for unknown keys, so that forged keys do not
  // cause endless requests.
  const begin = async (): Promise<void> => {
    issuer.break(true)
    if (outageNumber++ % Math.ceil(outageCount / 4) === 0) await issuer.rotate()
  }
  const outage = { begin, end: async () => issuer.break(false) }
  await runLoad({ environment: () => ({ ISSUER: issuer.issuer }), headers, outage })
})

test('calls and changes of sessions survive instances whose clocks are two hours ahead and two hours behind [UNA-003 UNA-007]', async () => {
  const environment = (index: number): NodeJS.ProcessEnv => ({
    // States expire after more than the difference of the clocks. Otherwise another clock would treat them as expired.
    STATE_TTL_MS: String(24 * 3_600_000),
    NODE_OPTIONS: `--import=${new URL('./programs/shifted-clock.mjs', import.meta.url).href}`,
    CLOCK_OFFSET_MS: String((index - 1) * 2 * 3_600_000),
  })
  // A state with the wrong clock is valid at one instance only, which the client may not reach within ten seconds.
  await runLoad({ environment, repeatsUnstarted: true })
})
