import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { startPostgres } from '@tooling/real-servers/postgres'
import { startRedis } from '@tooling/real-servers/redis'
import { describeNeeding } from '@tooling/vitest/needs'
import { randomFrom } from '@tooling/vitest/random'
import { isJsonObject, type JsonObject } from '@x/schema'
import { createStateTable } from '@x/state-codec/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChildProgram, childProgram } from './child-program.ts'
import { type LinkedClient, linkedClient } from './linked-client.ts'
import { type LinkedFleet, startLinkedFleet } from './linked-fleet.ts'

// `LINK_CHAOS_SEED=… LINK_CHAOS_COUNT=… npx vitest run test/older-clients-chaos.alone.test.ts` chooses the same again. Each
// wave of calls has two troubles; three waves are enough for each kind at each place, and CI makes ten.
const seed = Number(process.env['LINK_CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const count = Number(process.env['LINK_CHAOS_COUNT'] ?? 60)

/** The number of concurrent calls that ask; one more works meanwhile. */
const callsAtOnce = 20

let program: ChildProgram

beforeAll(async () => {
  program = await childProgram(new URL('./programs/linked-instance.ts', import.meta.url))
})
afterAll(async () => {
  await program?.[Symbol.asyncDispose]()
})

/** Meets so many callers: each waits until all are there or have ended, and what happens then has begun. */
function createBarrier(size: number, onAll: () => Promise<void>): (caller: number) => Promise<void> {
  const left = new Set(Array.from({ length: size }, (_, caller) => caller))
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return async (caller) => {
    if (left.delete(caller) && left.size === 0) await onAll().finally(open)
    await opened
  }
}

/** A store that a wave of calls restarts. */
interface Store {
  kill(): Promise<void>
  restart(): Promise<void>
}

/** Milliseconds in which answers arrive while the store does not run. */
const storeOutageMs = 300

/** Ends the store. It starts again in the background, when answers have been sent to instances that cannot reach it. */
async function restartStore({ kill, restart }: Store, background: Promise<void>[]): Promise<void> {
  await kill()
  background.push(new Promise((resolve) => setTimeout(resolve, storeOutageMs)).then(restart))
}

/** Kills or freezes one instance. A frozen one goes on in the background, when its answers have been sent. */
async function makeTrouble(fleet: LinkedFleet, throwDie: () => number, background: Promise<void>[]): Promise<void> {
  const place = Math.floor(throwDie() * 3)
  if (throwDie() < 0.5) await fleet.replace(place)
  else background.push(fleet.freeze(place))
}

/** One wave: all calls wait for an answer whenever something happens, but for one that works. */
async function runWave(
  fleet: LinkedFleet,
  clients: readonly LinkedClient[],
  { first, store, throwDie }: Wave,
): Promise<JsonObject[]> {
  const background: Promise<void>[] = []
  const size = Math.min(callsAtOnce, count - first)
  const trouble = () => makeTrouble(fleet, throwDie, background)
  // In the first wave the store is what fails, between the first and the second answer of each call.
  const secondTrouble = first === 0 ? () => restartStore(store, background) : trouble
  const barriers = [createBarrier(size, trouble), createBarrier(size, secondTrouble)]
  const asking = Array.from({ length: size }, async (_, index) => {
    const response = await clientAt(clients, index).call('pair', `call-${first + index}`, async (message) => {
      await barriers[message.endsWith('.1') ? 0 : 1]?.(index)
      return { action: 'accept', content: { name: `answer to ${message}` } }
    })
    for (const barrier of barriers) void barrier(index)
    return response
  })
  const working = clientAt(clients, size).call('work', `wave-${first}`)
  const responses = await Promise.all([...asking, working])
  await Promise.all(background)
  return responses
}

function clientAt(clients: readonly LinkedClient[], index: number): LinkedClient {
  const client = clients[index]
  if (client === undefined) throw new RangeError('There are fewer clients than calls')
  return client
}

interface Wave {
  readonly first: number
  readonly store: Store
  readonly throwDie: () => number
}

async function runChaos(environment: NodeJS.ProcessEnv, store: Store): Promise<void> {
  process.stdout.write(`LINK_CHAOS_SEED=${seed} LINK_CHAOS_COUNT=${count}\n`)
  const effects = join(dirname(program.path), `effects-${Object.keys(environment).join()}`)
  await using fleet = await startLinkedFleet(program.path, { ...environment, EFFECTS: effects })
  const clients = await Promise.all(Array.from({ length: callsAtOnce + 1 }, () => linkedClient(fleet.url)))
  const throwDie = randomFrom(seed)
  const worked: JsonObject[] = []
  for (let first = 0; first < count; first += callsAtOnce) {
    const responses = await runWave(fleet, clients, { first, store, throwDie })
    worked.push(...responses.slice(-1))
    responses.slice(0, -1).forEach((response, index) => {
      const id = `call-${first + index}`
      const reason = `${id}: ${JSON.stringify(response['error'])}`
      expect(textOf(response), reason).toBe(`answer to ${id}.1 and answer to ${id}.2`)
    })
  }
  const lines = (await readFile(effects, 'utf8')).trim().split('\n')
  // Nothing that waited is lost, and nothing runs twice.
  const ids = Array.from({ length: count }, (_, index) => `call-${index}`)
  const steps = ids.flatMap((id) => [`${id}.1 answer to ${id}.1`, `${id}.2 answer to ${id}.2`])
  expect(lines.filter((line) => line.startsWith('call-')).toSorted()).toEqual(steps.toSorted())
  // What was running has ended, or tells why it did not.
  for (const response of worked) {
    if (textOf(response) === 'worked') continue
    expect(response['error']).toMatchObject({ code: -32603, data: { reason: 'lost' } })
  }
}

function textOf({ result }: JsonObject): unknown {
  const content = isJsonObject(result) ? result['content'] : undefined
  return Array.isArray(content) && isJsonObject(content[0]) ? content[0]['text'] : undefined
}

const longest = 600_000

describeNeeding('redis', 'calls of older clients over instances that are linked by Redis', (redis) => {
  test(
    `continue behind a round-robin balancer while instances are killed (LINK_CHAOS_SEED=${seed}) [LEG-092 LEG-093 LEG-094]`,
    async () => {
      const server = await startRedis(redis)
      try {
        await runChaos({ REDIS_PATH: server.path }, server)
      } finally {
        await server.close()
      }
    },
    longest,
  )
})

test(
  `calls of older clients over instances that are linked by PostgreSQL go on (LINK_CHAOS_SEED=${seed}) [LEG-092 LEG-093 LEG-094]`,
  async () => {
    const server = await startPostgres()
    const pool = server.pool()
    try {
      await createStateTable(pool)
      await runChaos({ DATABASE_URL: server.url }, server)
    } finally {
      await pool.end()
      await server.close()
    }
  },
  longest,
)
