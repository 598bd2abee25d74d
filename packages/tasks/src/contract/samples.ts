import type { JsonObject } from '@x/schema'
import type { ClaimedTask, NewTask, TaskEngine, TaskRelease, TaskRow } from '../engines/engine.ts'

/** The owner of the tasks that the tests create. */
export const sampleOwner = '["https://issuer.example","ada",null]'

/** The lifetime of the tasks that the tests create, in milliseconds. */
export const sampleLifetimeMs = 3_600_000

/** The result of a task that has completed. */
export const sampleResult: JsonObject = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] }

/** Two requests for input of a task. */
export const sampleRequests: JsonObject = {
  name: { method: 'elicitation/create', params: { message: 'Who?' } },
  color: { method: 'elicitation/create', params: { message: 'Which?' } },
}

/** Returns the answer of a user who filled in a form. */
export function createAcceptedAnswer(value: string): JsonObject {
  return { action: 'accept', content: { value } }
}

/** Returns a task to be created. */
export function createNewTask(id: string, overrides: Partial<NewTask> = {}): NewTask {
  return {
    id,
    owner: sampleOwner,
    caller: overrides.owner ?? sampleOwner,
    tool: 'work',
    payload: { method: 'tools/call' },
    lifetimeMs: sampleLifetimeMs,
    callerLimit: 100,
    ...overrides,
  }
}

/** Returns a row with the age 0, because the age differs between two reads. */
export function withoutAge(row: TaskRow | 'full' | undefined): object | undefined {
  return typeof row === 'object' ? { ...row, ageMs: 0 } : undefined
}

/** Returns a release without progress, or with the given members. */
export function createRelease(overrides: Partial<TaskRelease> = {}): TaskRelease {
  return { entries: [], hasProgressed: false, ...overrides }
}

/** Creates a task and claims it. */
export async function createClaimedTask(engine: TaskEngine, id = 'a'): Promise<ClaimedTask> {
  await engine.create(createNewTask(id))
  return claimOne(engine)
}

/** Claims ready tasks. */
export async function claimTasks(engine: TaskEngine, maxClaims: number): Promise<readonly ClaimedTask[]> {
  return (await engine.claim({ maxClaims })).tasks
}

/** Claims the only ready task. Throws if there is none, or more than one. */
export async function claimOne(engine: TaskEngine): Promise<ClaimedTask> {
  const [task, ...otherTasks] = await claimTasks(engine, 10)
  if (task !== undefined && otherTasks.length === 0) return task
  throw new Error(`${task === undefined ? 'No task was' : 'Several tasks were'} claimed where one is ready`)
}

/** Creates a task that waits for the answers to two questions. */
export async function createSuspendedTask(engine: TaskEngine, id = 'a'): Promise<ClaimedTask> {
  const task = await createClaimedTask(engine, id)
  await engine.suspend(task, { ...createRelease(), requests: sampleRequests, lifetimeMs: sampleLifetimeMs })
  return task
}
