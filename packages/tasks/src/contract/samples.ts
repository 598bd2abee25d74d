import type { JsonObject } from '@x/schema'
import type { ClaimedTask, NewTask, TaskEnd, TaskEngine, TaskRelease, TaskRow } from '../engines/engine.ts'

export const sampleOwner = '["https://issuer.example","ada",null]'

export const sampleLifetimeMs = 3_600_000

export const sampleResult: JsonObject = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] }

export const sampleEnd: TaskEnd = {
  outcome: { status: 'completed', result: sampleResult },
  lifetimeMs: sampleLifetimeMs,
}

export const sampleRequests: JsonObject = {
  name: { method: 'elicitation/create', params: { message: 'Who?' } },
  color: { method: 'elicitation/create', params: { message: 'Which?' } },
}

export function createAcceptedAnswer(value: string): JsonObject {
  return { action: 'accept', content: { value } }
}

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

/** Without its age, which differs between two reads. */
export function withoutAge(row: TaskRow | 'full' | undefined): object | undefined {
  return typeof row === 'object' ? { ...row, ageMs: 0 } : undefined
}

export function createRelease(overrides: Partial<TaskRelease> = {}): TaskRelease {
  return { entries: [], hasProgressed: false, ...overrides }
}

export async function createClaimedTask(engine: TaskEngine, id = 'a'): Promise<ClaimedTask> {
  await engine.create(createNewTask(id))
  return claimOne(engine)
}

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

/** Waits at most a minute for a condition. A notification needs some time to reach another instance. */
export async function waitUntil(isMet: () => boolean): Promise<void> {
  for (let checks = 0; !isMet(); checks++) {
    if (checks >= 6000) throw new Error('The condition was not true within a minute')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
