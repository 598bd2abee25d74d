import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startScriptedAuthServer } from '@tooling/auth-server/scripted'
import { startPostgres } from '@tooling/real-servers/postgres'
import { type RealRedis, startRedis } from '@tooling/real-servers/redis'
import { describeNeeding } from '@tooling/vitest/needs'
import { createStateTable } from '@x/state-codec/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBalancer, startInstance } from './balanced-processes.ts'
import { type ChildProgram, childProgram } from './child-program.ts'
import { answerTo, type ClientOutcome, openOutageClients, type OutageLoad, repeatOutage } from './outages.ts'

// `OUTAGE_CHAOS_SIZE=1` has 16 outages of 1.5 s, 200 calls and 1,000 changes of sessions in each test. A quarter of the
// outages meets each part of the load as often for its length.
const size = Number(process.env['OUTAGE_CHAOS_SIZE'] ?? 0.25)
const outageCount = Math.ceil(16 * size)
const outages = { count: outageCount, pauseMs: 2000 }
const clientCount = 20
const instanceCount = 3

let program: ChildProgram
beforeAll(async () => {
  program = await childProgram(new URL('./programs/outage-instance.ts', import.meta.url))
})
afterAll(async () => {
  await program?.[Symbol.asyncDispose]()
})

interface OutageRun {
  /** The environment of all instances, or of one of them. */
  readonly environment: (place: number) => NodeJS.ProcessEnv
  readonly headers?: OutageLoad['headers']
  readonly repeatsByHand?: boolean
  /** Something that happens, while the load runs. */
  readonly trouble: () => Promise<void>
}

/** Runs the load behind a balancer that sends each request to the next ready instance, and checks what came of it. */
async function runLoad({ environment, headers, repeatsByHand, trouble }: OutageRun): Promise<void> {
  const effects = await mkdtemp(join(tmpdir(), 'outages-'))
  const instances = await Promise.all(
    Array.from({ length: instanceCount }, (_, place) =>
      startInstance(program.path, { EFFECTS: effects, ...environment(place) }),
    ),
  )
  const balancer = await startBalancer(instances)
  let isOver = false
  const load: OutageLoad = {
    url: balancer.url,
    headers: headers ?? ((caller) => ({ 'x-caller': caller })),
    calls: Math.ceil((200 * size) / clientCount),
    changes: Math.ceil((1000 * size) / clientCount),
    repeatsByHand,
    isOver: () => isOver,
  }
  try {
    await using clients = await openOutageClients(load, clientCount)
    const startedAt = performance.now()
    const ended = trouble().finally(() => (isOver = true))
    const outcomes = await clients.run()
    await ended
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
    `${failed.length} lost of ${calls.length} calls and ${changes.length} changes in ${ms} ms, ${repetitions} repeated by hand\n`,
  )
  expect(failed).toEqual([])
  // Each change adds one to what the one before it left.
  for (const outcome of outcomes) expect(outcome.changes).toEqual(outcome.changes.map((_, at) => String(at + 1)))
  const made = new Map<string, string>()
  for (const file of await readdir(effects))
    made.set(Buffer.from(file, 'base64url').toString(), await readFile(join(effects, file), 'utf8'))
  expect(made.size).toBe(calls.length * 3)
  for (const [name, text] of calls) {
    const [one, two, three] = ['one', 'two', 'three'].map((step) => made.get(`${name}/${step}`))
    expect(text).toBe([one, answerTo(`${name}.1`), two, answerTo(`${name}.2`), three].join(' '))
  }
}

const longest = 600_000

describeNeeding('redis', 'calls and changes of sessions, beside a Redis', (path) => {
  const withRedis = async (run: (redis: RealRedis) => Promise<void>): Promise<void> => {
    const redis = await startRedis(path)
    try {
      await run(redis)
    } finally {
      await redis.close()
    }
  }

  test(
    'that has every state, and is restarted for 1.5 s again and again: none is lost or wrong [UNA-001 UNA-002 UNA-003]',
    () =>
      withRedis(async (redis) => {
        const environment = () => ({ REDIS_PATH: redis.path, KEEPS_STATES: 'yes' })
        await runLoad({
          environment,
          trouble: () => repeatOutage({ ...outages, begin: redis.kill, end: redis.restart }),
        })
      }),
    longest,
  )

  test(
    'that has the results of keyed calls, and returns empty: none is lost or wrong [UNA-003]',
    () =>
      withRedis(async (redis) => {
        const environment = () => ({ REDIS_PATH: redis.path })
        const trouble = () =>
          repeatOutage({ ...outages, begin: redis.kill, end: () => redis.restart({ isEmpty: true }) })
        await runLoad({ environment, trouble })
      }),
    longest,
  )
})

test(
  'calls and changes of sessions survive a PostgreSQL that has every state, and is restarted for 1.5 s again and again [UNA-001 UNA-002 UNA-003]',
  async () => {
    const database = await startPostgres()
    const pool = database.pool()
    try {
      await createStateTable(pool)
      const environment = () => ({ DATABASE_URL: database.url, KEEPS_STATES: 'yes' })
      await runLoad({
        environment,
        trouble: () => repeatOutage({ ...outages, begin: database.kill, end: database.restart }),
      })
    } finally {
      await pool.end()
      await database.close()
    }
  },
  longest,
)

test(
  'calls and changes of sessions survive an issuer that is away for 1.5 s again and again, four times before it publishes a new key [UNA-001 UNA-003]',
  async () => {
    await using issuer = await startScriptedAuthServer({ aud: 'http://127.0.0.1/mcp' })
    const headers = async (caller: string) => ({
      authorization: `Bearer ${await issuer.sign({ claims: { sub: caller } })}`,
    })
    let outageNumber = 0
    // Four new keys, as many as are looked for in a row: made-up keys must not make a server ask its issuer for ever.
    const begin = async (): Promise<void> => {
      issuer.break(true)
      if (outageNumber++ % Math.ceil(outageCount / 4) === 0) await issuer.rotate()
    }
    // An issuer is tried again after 1 and then 2 seconds: the next outage must not begin before that.
    const trouble = () => repeatOutage({ ...outages, pauseMs: 4000, begin, end: async () => issuer.break(false) })
    await runLoad({ environment: () => ({ ISSUER: issuer.issuer }), headers, trouble })
  },
  longest,
)

test.each([
  ['ahead', 2],
  ['behind', -2],
])(
  'calls and changes of sessions survive an instance whose clock is two hours %s [UNA-003 UNA-007]',
  async (_, hours) => {
    const clock = {
      NODE_OPTIONS: `--import=${new URL('./programs/shifted-clock.mjs', import.meta.url).href}`,
      CLOCK_OFFSET_MS: String(hours * 3_600_000),
    }
    // States live longer than clocks differ: an instance whose clock is ahead cannot tell others from expired ones.
    const states = { STATE_TTL_MS: String(24 * 3_600_000) }
    const environment = (place: number) => ({ ...states, ...(place === 0 && clock) })
    // A state of the wrong clock is good at one instance alone, which a client may not meet within its ten seconds.
    await runLoad({ environment, repeatsByHand: true, trouble: () => Promise.resolve() })
  },
  longest,
)
