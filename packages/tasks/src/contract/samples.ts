import type { JsonObject } from '@x/schema'
import type { ClaimedTask, NewTask, TaskEngine, TaskRelease, TaskRow } from '../engines/engine.ts'

/** Whose the tasks of the contract are. */
export const owner = '["https://issuer.example","ada",null]'

/** For how long tasks of the contract live, in milliseconds. */
export const life = 3_600_000

/** A result that a task ends with. */
export const result: JsonObject = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] }

/** What a task asks. */
export const requests: JsonObject = {
  name: { method: 'elicitation/create', params: { message: 'Who?' } },
  color: { method: 'elicitation/create', params: { message: 'Which?' } },
}

/** An answer of a user who filled in a form. */
export function accepted(value: string): JsonObject {
  return { action: 'accept', content: { value } }
}

/** A task to be made. */
export function newTask(id: string, more: Partial<NewTask> = {}): NewTask {
  return {
    id,
    owner,
    caller: more.owner ?? owner,
    payload: { method: 'tools/call' },
    lifeMs: life,
    callerLimit: 100,
    ...more,
  }
}

/** A row without its age, which is another at each look. */
export function ageless(row: TaskRow | 'full' | undefined): object | undefined {
  return typeof row === 'object' ? { ...row, ageMs: 0 } : undefined
}

/** Progress that brings nothing, or what is given. */
export function progress(more: Partial<TaskRelease> = {}): TaskRelease {
  return { entries: [], progressed: false, ...more }
}

/** Makes a task and claims it. */
export async function claimedTask(engine: TaskEngine, id = 'a'): Promise<ClaimedTask> {
  await engine.create(newTask(id))
  return claimOne(engine)
}

/** Claims the one task that is ready. */
export async function claimOne(engine: TaskEngine): Promise<ClaimedTask> {
  const [task, ...others] = await engine.claim(10)
  if (task !== undefined && others.length === 0) return task
  throw new Error(`${task === undefined ? 'No task was' : 'Several tasks were'} claimed where one is ready`)
}

/** Makes a task that waits for the answers to two questions. */
export async function suspendedTask(engine: TaskEngine, id = 'a'): Promise<ClaimedTask> {
  const task = await claimedTask(engine, id)
  await engine.suspend(task, { ...progress(), requests, lifeMs: life })
  return task
}
