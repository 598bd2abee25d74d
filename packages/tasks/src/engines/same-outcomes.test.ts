import { PGlite } from '@electric-sql/pglite'
import { connectRedis, type RealRedis, startRedis, type TestClient } from '@tooling/real-servers/redis'
import { sizeOf } from '@tooling/vitest/needs'
import type { JsonObject } from '@x/schema'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Lease, TaskEngine, TaskProgress } from './engine.ts'
import { memoryEngine } from './memory-engine.ts'
import { pgliteEngine } from './pglite/pglite-engine.ts'
import { redisEngine } from './redis/redis-engine.ts'

/** A call of an engine. Tasks, owners and claims are numbers, because the two engines have different tokens. */
type Command =
  | { readonly kind: 'create'; readonly task: number; readonly owner: number }
  | { readonly kind: 'get' | 'cancel'; readonly task: number; readonly owner: number }
  | { readonly kind: 'answer'; readonly task: number; readonly owner: number; readonly keys: readonly string[] }
  | { readonly kind: 'claim'; readonly maxClaims: number; readonly task: number | undefined }
  | { readonly kind: 'record'; readonly claim: number; readonly step: number }
  | { readonly kind: 'suspend'; readonly claim: number; readonly keys: readonly string[] }
  | { readonly kind: 'release'; readonly claim: number; readonly isPaused: boolean }
  | { readonly kind: 'finish'; readonly claim: number; readonly status: 'completed' | 'failed' | 'cancelled' }
  | { readonly kind: 'heartbeat'; readonly claim: number }
  | { readonly kind: 'inspect' | 'revoke' | 'stop'; readonly task: number }
  | { readonly kind: 'list'; readonly limit: number; readonly isFiltered: boolean }
  | { readonly kind: 'listDue'; readonly limit: number }
  | { readonly kind: 'count' }

type OperatorKind = 'inspect' | 'revoke' | 'stop' | 'list' | 'listDue' | 'count'

const task = fc.integer({ min: 0, max: 4 })
const owner = fc.integer({ min: 0, max: 1 })
const claim = fc.integer({ min: 0, max: 5 })
const names = ['name', 'color', 'size']
const keys = fc.subarray(names)
// A worker does not suspend a task that asks for nothing.
const askedKeys = fc.subarray(names, { minLength: 1 })

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('create'), task, owner }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('get', 'cancel'), task, owner }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('answer'), task, owner, keys }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('claim'),
      maxClaims: fc.integer({ min: 1, max: 3 }),
      task: fc.option(task, { nil: undefined, freq: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('record'), claim, step: fc.integer({ min: 0, max: 2 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('suspend'), claim, keys: askedKeys }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release'), claim, isPaused: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('finish'),
      claim,
      status: fc.constantFrom('completed', 'failed', 'cancelled'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('heartbeat'), claim }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('inspect', 'revoke', 'stop'), task }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('list'),
      limit: fc.integer({ min: 1, max: 3 }),
      isFiltered: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('listDue'), limit: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('count') }) },
)

/** Members whose values depend on the time, or differ between engines as they must. Only their presence is compared. */
const uncompared = new Set([
  'createdAt',
  'updatedAt',
  'ageMs',
  'ttlMs',
  'nextCursor',
  'token',
  'dueInMs',
  'oldestAgeMs',
  'nextDueMs',
  'waitedMs',
])

/** Returns an outcome as JSON, with the presence of each member that is not compared. */
function comparable(outcome: unknown): unknown {
  const text = JSON.stringify(outcome, (name, value: unknown) =>
    uncompared.has(name) && value !== undefined ? 'present' : value,
  )
  return text === undefined ? undefined : JSON.parse(text)
}

/** A number of milliseconds after which no lease, pause or lifetime ends within a test. */
const longMs = 3_600_000

const callerLimit = 3

/** Runs commands at one engine. */
class CommandRunner {
  /** The claims so far, the newest first. */
  readonly #leases: Lease[] = []
  readonly #engine: TaskEngine

  constructor(engine: TaskEngine) {
    this.#engine = engine
  }

  /** Runs a command and returns its outcome, which is the text of the error if the engine rejects. */
  async run(given: Command): Promise<unknown> {
    try {
      return comparable(await this.#call(given))
    } catch {
      return 'rejected'
    }
  }

  #call(given: Command): Promise<unknown> {
    const engine = this.#engine
    switch (given.kind) {
      case 'create':
        return engine.create(newTaskOf(given.task, given.owner))
      case 'get':
        return engine.get(idOf(given.task), ownerOf(given.owner))
      case 'cancel':
        return engine.cancel(idOf(given.task), ownerOf(given.owner))
      case 'answer':
        return engine.answer({
          id: idOf(given.task),
          owner: ownerOf(given.owner),
          responses: objectOf(given.keys, (key) => ({ answerTo: key })),
          lifetimeMs: longMs,
        })
      case 'claim':
        return this.#claim(given.maxClaims, given.task)
      default:
        return 'claim' in given ? this.#write(given, this.#leases[given.claim]) : this.#operate(given)
    }
  }

  /** Runs a command of an operator. */
  #operate(given: Extract<Command, { readonly kind: OperatorKind }>): Promise<unknown> {
    const engine = this.#engine
    switch (given.kind) {
      case 'listDue':
        return engine.listDue(given.limit)
      case 'inspect':
        return engine.inspect(idOf(given.task))
      case 'revoke':
        return engine.revoke(idOf(given.task))
      case 'stop':
        return engine.cancel(idOf(given.task))
      case 'list':
        return engine.list({ limit: given.limit, ...(given.isFiltered && { status: 'working', owner: ownerOf(0) }) })
      default:
        return engine.count().then((counts) => counts.map((count) => JSON.stringify(comparable(count))).toSorted())
    }
  }

  async #claim(maxClaims: number, chosenTask: number | undefined): Promise<unknown> {
    const id = chosenTask === undefined ? {} : { id: idOf(chosenTask) }
    const claims = await this.#engine.claim({ maxClaims, worker: 'worker', ...id })
    this.#leases.unshift(
      ...claims.tasks.map((claimed) => ({ id: claimed.id, attempt: claimed.attempt, token: claimed.token })),
    )
    const tasks = claims.tasks.map(({ entries, ...others }) => ({
      ...others,
      entries: entries.map((entry) => JSON.stringify(entry)).toSorted(),
    }))
    return { ...claims, tasks }
  }

  #write(given: Extract<Command, { readonly claim: number }>, lease: Lease | undefined): Promise<unknown> {
    if (lease === undefined) return Promise.resolve('no such claim')
    const engine = this.#engine
    switch (given.kind) {
      case 'record':
        return engine.record(lease, progressOf(given.step))
      case 'suspend':
        return engine.suspend(lease, {
          ...progressOf(undefined),
          requests: objectOf(given.keys, (key) => ({ method: 'elicitation/create', params: { message: key } })),
          lifetimeMs: longMs,
        })
      case 'release':
        return engine.release(lease, { ...progressOf(undefined), pauseMs: given.isPaused ? longMs : undefined })
      case 'finish':
        return engine.finish(lease, { outcome: outcomeOf(given.status), lifetimeMs: longMs })
      default:
        return engine.heartbeat([lease])
    }
  }
}

function newTaskOf(number: number, ownerNumber: number): Parameters<TaskEngine['create']>[0] {
  return {
    id: idOf(number),
    owner: ownerOf(ownerNumber),
    caller: ownerOf(ownerNumber),
    tool: `tool-${number % 2}`,
    payload: { number },
    lifetimeMs: longMs,
    callerLimit,
  }
}

function idOf(number: number): string {
  return `task-${number}`
}

function ownerOf(number: number): string {
  return `owner-${number}`
}

function objectOf(names: readonly string[], valueOf: (name: string) => JsonObject): JsonObject {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)]))
}

function progressOf(step: number | undefined): TaskProgress {
  if (step === undefined) return { entries: [], hasProgressed: false }
  const entry = { member: 'steps', key: `step-${step}`, value: [step] }
  return {
    entries: [entry],
    statusMessage: `step ${step}`,
    progress: { progress: step, total: 3 },
    hasProgressed: true,
  }
}

function outcomeOf(status: 'completed' | 'failed' | 'cancelled'): Parameters<TaskEngine['finish']>[1]['outcome'] {
  if (status === 'completed') return { status, result: { content: [] } }
  if (status === 'failed') return { status, error: { code: -32603, message: 'Internal error' } }
  return { status }
}

let pglite: PGlite
let redis: RealRedis
let redisClient: TestClient
beforeAll(async () => {
  pglite = await PGlite.create()
  redis = await startRedis('redis-server')
  redisClient = await connectRedis(redis.path)
})
afterAll(async () => {
  redisClient.destroy()
  await redis.close()
  await pglite.close()
})

test('random calls have the same outcomes in memory, in PGlite and in Redis [SIM-004]', async () => {
  const sql = pgliteEngine(pglite)
  const scripts = redisEngine(redisClient)
  await sql.ping()
  const property = fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
    await pglite.exec('DELETE FROM mcp_tasks.task')
    await redisClient.sendCommand(['FLUSHDB'])
    // Each call has a different time, as in PGlite, so that the order of the tasks is the same.
    let now = Date.UTC(2026, 0, 1)
    const inMemory = new CommandRunner(memoryEngine({ wallClock: () => now++ }))
    const others = [new CommandRunner(sql), new CommandRunner(scripts)]
    for (const given of commands) {
      const expected = await inMemory.run(given)
      for (const other of others) expect(await other.run(given), JSON.stringify(given)).toEqual(expected)
    }
  })
  await fc.assert(property, { numRuns: sizeOf({ change: 100, night: 1000 }) })
  await sql.close()
  await scripts.close()
})
