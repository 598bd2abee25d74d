import { setTimeout } from 'node:timers/promises'
import { randomFrom } from '@tooling/vitest/random'
import { isJsonObject, type JsonObject } from '@x/schema'
import { expect } from 'vitest'
import type { ProcessFleet } from './process-fleet.ts'

/** The number of concurrent tasks. */
const concurrency = 40

/** A run of tasks of the tool `paint`. Clients create and answer them while faults are injected. */
export interface PaintRun {
  readonly fleet: ProcessFleet
  readonly count: number
  readonly seed: number
}

/** The outcome of a task as its client saw it. */
export interface TaskOutcome {
  readonly name: string
  readonly taskId: string
  readonly color: string
  readonly wasCancelled: boolean
  /** The last result of `tasks/get`. */
  readonly task: JsonObject
}

/**
 * Repeats a request until it has a result. While the database is unreachable, an instance returns an error that does
 * not describe the task.
 */
async function resultOf(fleet: ProcessFleet, method: string, params: JsonObject): Promise<JsonObject> {
  for (;;) {
    const { result, error } = await fleet.ask(method, params)
    if (isJsonObject(result)) return result
    if (!isJsonObject(error) || error['code'] !== -32603) throw new Error(`${method}: ${JSON.stringify(error)}`)
    await setTimeout(100)
  }
}

/** Creates a task. If no response arrives, the task may exist, so the next attempt uses another name. */
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

/** Creates `count` tasks and more until `isHit`, concurrently, and follows them. Each outcome is added to `ended`. */
export async function driveTasks(
  { fleet, count, seed }: PaintRun,
  ended: TaskOutcome[],
  isHit: () => boolean,
): Promise<void> {
  let started = 0
  const drive = async (): Promise<void> => {
    while (started < count || !isHit()) ended.push(await driveTask(fleet, started++, seed))
  }
  await Promise.all(Array.from({ length: concurrency }, drive))
}

async function driveTask(fleet: ProcessFleet, number: number, seed: number): Promise<TaskOutcome> {
  const random = randomFrom(seed + number)
  const cancelling = ['never', 'never', 'never', 'never', 'at once', 'when asked'][Math.floor(random() * 6)]
  const color = `color-${Math.floor(random() * 1000)}`
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
    if (isJsonObject(inputRequests)) expect(task['statusMessage']).toBe(`${name} is primed`)
    if (isJsonObject(inputRequests) && cancelling === 'when asked' && !wasCancelled) await cancel()
    else if (isJsonObject(inputRequests)) {
      const response = { action: 'accept', content: { color } }
      const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, response]))
      // Two instances receive the answer concurrently. One of them resumes the task.
      const updates = [1, 2].map(() => resultOf(fleet, 'tasks/update', { taskId, inputResponses }))
      await Promise.all(updates)
    }
    await setTimeout(100)
  }
}

/** Checks that each task ended once, with the effects of its steps and its own answer. */
export async function expectOutcomes(
  fleet: ProcessFleet,
  ended: readonly TaskOutcome[],
  effects: ReadonlyMap<string, string>,
): Promise<void> {
  for (const { taskId, task, ...seen } of ended) {
    // The poll interval grows with the age of the task.
    expect(await resultOf(fleet, 'tasks/get', { taskId })).toEqual({ ...task, pollIntervalMs: expect.any(Number) })
    if (task['status'] === 'cancelled') expect(seen.wasCancelled).toBe(true)
    else expect([task['status'], textOf(task)]).toEqual(['completed', expectedText(seen, effects)])
  }
  expect(ended.filter(({ task }) => task['status'] === 'cancelled').length).toBeGreaterThan(0)
}

function expectedText(
  { name, color }: Pick<TaskOutcome, 'name' | 'color'>,
  effects: ReadonlyMap<string, string>,
): string {
  const [one, two, three] = ['one', 'two', 'three'].map((step) => effects.get(`${name}/${step}`))
  return [name, one, two, color, three].join(' ')
}

function textOf({ result }: JsonObject): unknown {
  const content = isJsonObject(result) ? result['content'] : undefined
  const [block] = Array.isArray(content) ? content : []
  return isJsonObject(block) ? block['text'] : undefined
}
