import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { startPostgres } from '@tooling/real-servers/postgres'
import { startRedis } from '@tooling/real-servers/redis'
import { describeNeeding, sizeOf, testSeed } from '@tooling/vitest/needs'
import { randomFrom } from '@tooling/vitest/random'
import { isJsonObject, type JsonObject } from '@x/schema'
import { createStateTable } from '@x/state-codec/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { type ResumingClient, connectResumingClient } from './resuming-client.ts'
import { type ResumingFleet, startResumingFleet } from './resuming-fleet.ts'

// Each wave of 20 calls has two faults. The first has a restart of the store; three waves inject each kind of fault
// between each pair of answers. What a store does is in the first, so for each change the second store has no other.
const counts = { redis: sizeOf({ change: 40, night: 200 }), postgres: sizeOf({ change: 20, night: 200 }) }

/** The number of concurrent calls that ask. One more call works at the same time. */
const concurrency = 20

let program: ChildProgram

beforeAll(async () => {
  program = await bundleProgram(new URL('./programs/older-clients-instance.ts', import.meta.url))
})
afterAll(async () => {
  await program?.[Symbol.asyncDispose]()
})

/**
 * Creates a barrier for a number of callers. Each caller waits until all others have arrived or ended, and until
 * `onAll` has run.
 */
function createBarrier(size: number, onAll: () => Promise<void>): (caller: number) => Promise<void> {
  const remaining = new Set(Array.from({ length: size }, (_, caller) => caller))
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return async (caller) => {
    if (remaining.delete(caller) && remaining.size === 0) await onAll().finally(open)
    await opened
  }
}

/** A store that a wave of calls restarts. */
interface Store {
  kill(): Promise<void>
  restart(): Promise<void>
}

/** The duration of an outage of the store, in milliseconds. Answers arrive during the outage. */
const storeOutageMs = 300

/** Kills the store and restarts it in the background, after answers were sent to instances that cannot reach it. */
async function restartStore({ kill, restart }: Store, background: Promise<void>[]): Promise<void> {
  await kill()
  background.push(new Promise((resolve) => setTimeout(resolve, storeOutageMs)).then(restart))
}

/** Kills or freezes one instance. A frozen instance continues after its answers were sent. */
async function injectFaults(fleet: ResumingFleet, random: () => number, background: Promise<void>[]): Promise<void> {
  const index = Math.floor(random() * 3)
  if (random() < 0.5) await fleet.replace(index)
  else background.push(fleet.freeze(index))
}

/** Runs one wave. All calls but one wait for an answer at each fault. */
async function runWave(
  fleet: ResumingFleet,
  clients: readonly ResumingClient[],
  { first, count, store, random }: Wave,
): Promise<JsonObject[]> {
  const background: Promise<void>[] = []
  const size = Math.min(concurrency, count - first)
  const injectFault = () => injectFaults(fleet, random, background)
  // In the first wave the second fault is a restart of the store, between the two answers of each call.
  const injectSecondFault = first === 0 ? () => restartStore(store, background) : injectFault
  const barriers = [createBarrier(size, injectFault), createBarrier(size, injectSecondFault)]
  const askingCalls = Array.from({ length: size }, async (_, index) => {
    const response = await clientAt(clients, index).call('pair', `call-${first + index}`, async (message) => {
      await barriers[message.endsWith('.1') ? 0 : 1]?.(index)
      return { action: 'accept', content: { name: `answer to ${message}` } }
    })
    for (const barrier of barriers) void barrier(index)
    return response
  })
  const workingCall = clientAt(clients, size).call('work', `wave-${first}`)
  const responses = await Promise.all([...askingCalls, workingCall])
  await Promise.all(background)
  return responses
}

function clientAt(clients: readonly ResumingClient[], index: number): ResumingClient {
  const client = clients[index]
  if (client === undefined) throw new RangeError('There are fewer clients than calls')
  return client
}

interface Wave {
  readonly first: number
  readonly count: number
  readonly store: Store
  readonly random: () => number
}

async function runChaos(environment: NodeJS.ProcessEnv, store: Store, count: number): Promise<void> {
  process.stdout.write(`MCP_TEST_SEED=${testSeed}, ${count} calls\n`)
  const effects = join(dirname(program.path), `effects-${Object.keys(environment).join()}`)
  await using fleet = await startResumingFleet(program.path, { ...environment, EFFECTS: effects })
  const clients = await Promise.all(Array.from({ length: concurrency + 1 }, () => connectResumingClient(fleet.url)))
  const random = randomFrom(testSeed)
  const worked: JsonObject[] = []
  for (let first = 0; first < count; first += concurrency) {
    const responses = await runWave(fleet, clients, { first, count, store, random })
    worked.push(...responses.slice(-1))
    responses.slice(0, -1).forEach((response, index) => {
      const id = `call-${first + index}`
      const reason = `${id}: ${JSON.stringify(response['error'])}`
      expect(textOf(response), reason).toBe(`answer to ${id}.1 and answer to ${id}.2`)
    })
  }
  const lines = (await readFile(effects, 'utf8')).trim().split('\n')
  // No waiting call is lost, and no step runs twice.
  const ids = Array.from({ length: count }, (_, index) => `call-${index}`)
  const steps = ids.flatMap((id) => [`${id}.1 answer to ${id}.1`, `${id}.2 answer to ${id}.2`])
  expect(lines.filter((line) => line.startsWith('call-')).toSorted()).toEqual(steps.toSorted())
  // A running call ends with its result, or with the reason of its failure.
  for (const response of worked) {
    if (textOf(response) === 'worked') continue
    expect(response['error']).toMatchObject({ code: -32603, data: { reason: 'lost' } })
  }
}

function textOf({ result }: JsonObject): unknown {
  const content = isJsonObject(result) ? result['content'] : undefined
  return Array.isArray(content) && isJsonObject(content[0]) ? content[0]['text'] : undefined
}

describeNeeding('redis', 'calls of older clients over instances that share Redis', (redis) => {
  test(`continue behind a round-robin balancer while instances are killed or frozen (MCP_TEST_SEED=${testSeed}) [LEG-092 LEG-093 LEG-094]`, async () => {
    const server = await startRedis(redis)
    try {
      await runChaos({ REDIS_PATH: server.path }, server, counts.redis)
    } finally {
      await server.close()
    }
  })
})

test(`calls of older clients over instances that share PostgreSQL continue (MCP_TEST_SEED=${testSeed}) [LEG-092 LEG-093 LEG-094]`, async () => {
  const server = await startPostgres()
  const pool = server.pool()
  try {
    await createStateTable(pool)
    await runChaos({ DATABASE_URL: server.url }, server, counts.postgres)
  } finally {
    await pool.end()
    await server.close()
  }
})
