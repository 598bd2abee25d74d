import { setTimeout } from 'node:timers/promises'
import { randomFrom } from '@tooling/vitest/random'
import { isJsonObject, type JsonObject } from '@x/schema'
import { expect } from 'vitest'
import type { ProcessFleet } from './process-fleet.ts'

/** The number of concurrent tasks. */
const clients = 40

/** Tasks of the tool `paint`, which clients create and answer while something happens to the processes. */
export interface PaintRun {
  readonly fleet: ProcessFleet
  readonly count: number
  readonly seed: number
}

/** A client's observations of its task. */
export interface Ended {
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

/** Creates tasks and follows them, several at a time. Adds each to `ended` when it has ended. */
export async function driveTasks({ fleet, count, seed }: PaintRun, ended: Ended[]): Promise<void> {
  let left = count
  const drive = async (): Promise<void> => {
    while (left > 0) ended.push(await driveTask(fleet, left--, seed))
  }
  await Promise.all(Array.from({ length: clients }, drive))
}

async function driveTask(fleet: ProcessFleet, number: number, seed: number): Promise<Ended> {
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
    if (isJsonObject(inputRequests)) expect(task['statusMessage']).toBe(`${name} is primed`)
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

/** Checks that each task has ended once, with the effects of its steps and its own answer. */
export async function expectEnds(
  fleet: ProcessFleet,
  ended: readonly Ended[],
  effects: ReadonlyMap<string, string>,
): Promise<void> {
  for (const { taskId, task, ...seen } of ended) {
    // The interval of polls grows with the task's age.
    expect(await resultOf(fleet, 'tasks/get', { taskId })).toEqual({ ...task, pollIntervalMs: expect.any(Number) })
    if (task['status'] === 'cancelled') expect(seen.wasCancelled).toBe(true)
    else expect([task['status'], textOf(task)]).toEqual(['completed', expectedText(seen, effects)])
  }
  expect(ended.filter(({ task }) => task['status'] === 'cancelled').length).toBeGreaterThan(0)
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
