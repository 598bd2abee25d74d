import { setTimeout } from 'node:timers/promises'
import { randomFrom } from '@tooling/vitest/random'
import { isJsonObject, type JsonObject } from '@x/schema'
import { expect, test } from 'vitest'
import { effectsByStep, environmentOf, expectNoTaskLeft, leaseMs, makeTrouble, startChaosParts } from './chaos.ts'
import { type ProcessFleet, startProcessFleet } from './process-fleet.ts'

// `TASKS_CHAOS_SEED=… TASKS_CHAOS_COUNT=… pnpm vitest run test/tasks-chaos.test.ts` does the same again, as far as the
// machine lets it: what is chosen is the same, and when it happens to whom is as near as clocks are.
const seed = Number(process.env['TASKS_CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const count = Number(process.env['TASKS_CHAOS_COUNT'] ?? 200)

/** The number of concurrent tasks. */
const clients = 40

const parts = startChaosParts()

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
  const throwDie = randomFrom(seed + number)
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

test(`tasks end once, with the right result, while their processes and their database are killed (TASKS_CHAOS_SEED=${seed})`, async () => {
  process.stdout.write(`TASKS_CHAOS_SEED=${seed} TASKS_CHAOS_COUNT=${count}\n`)
  await using fleet = await startProcessFleet(parts.program.path, 3, environmentOf(parts.database))
  let left = count
  const ended: Ended[] = []
  const trouble = makeTrouble({
    fleet,
    database: parts.database,
    throwDie: randomFrom(seed),
    isOver: () => ended.length === count,
  })
  const drive = async (): Promise<void> => {
    while (left > 0) ended.push(await driveTask(fleet, left--))
  }
  await Promise.all(Array.from({ length: clients }, drive))
  const done = await trouble
  process.stdout.write(`${done.length} troubles: ${done.join(', ')}\n`)
  expect([done.length > 1, fleet.crashes]).toEqual([true, 0])

  // Every process works again, and whatever one of them still meant to write it has tried to.
  await setTimeout(leaseMs * 2)
  const kept = await effectsByStep(parts.pool)
  for (const { taskId, task, ...seen } of ended) {
    // The interval of polls grows with the task's age.
    expect(await resultOf(fleet, 'tasks/get', { taskId })).toEqual({ ...task, pollIntervalMs: expect.any(Number) })
    if (task['status'] === 'cancelled') expect(seen.wasCancelled).toBe(true)
    else expect([task['status'], textOf(task)]).toEqual(['completed', expectedText(seen, kept)])
  }
  expect(ended.filter(({ task }) => task['status'] === 'cancelled').length).toBeGreaterThan(0)
  await expectNoTaskLeft(parts.database, parts.pool)
}, 1_200_000)

function expectedText({ name, color }: Pick<Ended, 'name' | 'color'>, effects: ReadonlyMap<string, string>): string {
  const [one, two, three] = ['one', 'two', 'three'].map((step) => effects.get(`${name}/${step}`))
  return [name, one, two, color, three].join(' ')
}

function textOf({ result }: JsonObject): unknown {
  const content = isJsonObject(result) ? result['content'] : undefined
  const [block] = Array.isArray(content) ? content : []
  return isJsonObject(block) ? block['text'] : undefined
}
