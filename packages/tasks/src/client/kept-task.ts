import { isJsonObject } from '@x/schema'
import { isTaskId, longestId } from './read-answers.ts'
import type { KnownTask } from './task-calls.ts'
import { TaskFailure } from './task-failure.ts'

/**
 * A task to be taken up again, by this process or another, as plain JSON. It is a secret where the server knows no users: whoever has it
 * can read the result, and cancel the task.
 */
export type KeptTask = {
  /** The server that runs it: where the connection led. */
  readonly target: string
  /** The user that it runs for; null where the server knows none. */
  readonly user: string | null
  readonly taskId: string
  /** The tool that it runs. */
  readonly tool: string
  /** What it asked and was answered, by key: nobody is asked that again. */
  readonly answered: readonly string[]
}

/** Whose tasks a client has, and of which server. */
export interface TaskOwner {
  readonly target: string | undefined
  readonly user: string | null | undefined
}

/** What is read from a {@link KeptTask}. */
export interface TakenUp extends KnownTask {
  readonly answered: readonly string[]
}

/** Writes a task down for its owner. Throws {@link TaskFailure} `unidentified`. */
export function keepTask({ taskId, tool, answered }: TakenUp, owner: TaskOwner): KeptTask {
  return { ...identified(owner), taskId, tool, answered }
}

// As many as a call may be asked in all its rounds where nobody says otherwise.
const mostAnswered = 1000

/** The task that was kept, if it is this owner's. Takes what anybody may have altered; throws {@link TaskFailure}. */
export function takeUp(kept: unknown, owner: TaskOwner): TakenUp {
  const { target, user } = identified(owner)
  if (!isJsonObject(kept)) throw malformed('it must be an object, as task.keep() gives it')
  const { taskId, tool, answered } = kept
  if (!isTaskId(taskId)) throw malformed(`its taskId must be a text of 1 to ${longestId} characters`)
  if (typeof tool !== 'string' || tool.length > longestId) throw malformed('its tool must be the name of a tool')
  if (!isKeys(answered)) throw malformed(`its answered must be at most ${mostAnswered} keys`)
  if (kept.target !== target) throw new TaskFailure('foreign', `The kept task is not one of ${target}`, { tool })
  if (kept.user !== user) throw new TaskFailure('foreign', 'The kept task is not one of this user', { tool })
  return { taskId, tool, answered }
}

function isKeys(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= mostAnswered && value.every((key) => typeof key === 'string')
}

function identified({ target, user }: TaskOwner): { readonly target: string; readonly user: string | null } {
  if (target === undefined) {
    const message = 'This connection has no URL that says which server it leads to: give withTasks a `target`'
    throw new TaskFailure('unidentified', message)
  }
  if (user === undefined) {
    const message = 'To keep tasks, say whose they are: give withTasks a `user`, or null where the server knows none'
    throw new TaskFailure('unidentified', message)
  }
  return { target, user }
}

function malformed(why: string): TaskFailure {
  return new TaskFailure('malformed', `This is no kept task: ${why}`)
}
