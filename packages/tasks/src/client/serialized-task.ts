import { describeForeignTarget } from '@x/exchange/internal'
import { isJsonObject } from '@x/schema'
import { isTaskId, maxIdLength } from './parse-results.ts'
import { TaskError } from './task-error.ts'

/**
 * A task as plain JSON, which this process or another can resume. Where the server does not authenticate users, keep it
 * secret: it is then enough to read the result and to cancel the task.
 */
export type SerializedTask = {
  /** Server that runs the task: the option `target`, or the URL of a connection over HTTP. */
  readonly target: string
  /** Whose task it is. Null if the server does not authenticate users. */
  readonly user: string | null
  readonly taskId: string
  /** Name of the tool that the task runs. */
  readonly tool: string
  /** Keys of the requests for input that were answered last, which are not answered again. */
  readonly answered: readonly string[]
}

/** Server and user of a client's tasks. */
type TaskOwner = { readonly [Name in 'target' | 'user']: SerializedTask[Name] | undefined }

/** What a checked {@link SerializedTask} contains. */
export interface ResumedTask extends Pick<SerializedTask, 'taskId' | 'tool'> {
  readonly answeredKeys: readonly string[]
}

// Ten rounds, the default limit of a call, with 100 requests each, the limit of a round.
const maxAnsweredKeys = 1000

/**
 * Serializes a task for its owner, with the keys that were answered last, because the server may still list those.
 * Throws {@link TaskError} `unidentified` if the server or the user is not known.
 */
export function serializeTask({ taskId, tool, answeredKeys }: ResumedTask, owner: TaskOwner): SerializedTask {
  return { ...requireIdentifiedOwner(owner), taskId, tool, answered: answeredKeys.slice(-maxAnsweredKeys) }
}

/**
 * Parses a serialized task, which may have been altered. Throws {@link TaskError} if it is malformed, or belongs to
 * another server or user.
 */
export function parseSerializedTask(serializedTask: unknown, owner: TaskOwner): ResumedTask {
  const { target, user } = requireIdentifiedOwner(owner)
  if (!isJsonObject(serializedTask)) throw malformedTaskError('it must be an object, as task.serialize() returns it')
  const { taskId, tool, answered } = serializedTask
  if (!isTaskId(taskId)) throw malformedTaskError(`its taskId must be a text of 1 to ${maxIdLength} characters`)
  if (typeof tool !== 'string' || tool.length > maxIdLength)
    throw malformedTaskError('its tool must be the name of a tool')
  if (!isKeyList(answered)) throw malformedTaskError(`its answered must be at most ${maxAnsweredKeys} keys`)
  if (serializedTask.target !== target)
    throw new TaskError('foreign', describeForeignTarget('task', serializedTask.target, target), { tool })
  if (serializedTask.user !== user)
    throw new TaskError('foreign', 'The serialized task is not one of this user', { tool })
  return { taskId, tool, answeredKeys: answered }
}

function isKeyList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= maxAnsweredKeys && value.every((key) => typeof key === 'string')
}

function requireIdentifiedOwner({ target, user }: TaskOwner): Pick<SerializedTask, 'target' | 'user'> {
  if (target === undefined) {
    const message = 'This connection has no URL that identifies its server: give tasksClient() a `target`'
    throw new TaskError('unidentified', message)
  }
  if (user === undefined) {
    const message =
      'Serialized tasks require their user: give tasksClient() a `user`, or null if the server authenticates none'
    throw new TaskError('unidentified', message)
  }
  return { target, user }
}

function malformedTaskError(reason: string): TaskError {
  return new TaskError('malformed', `Not a serialized task: ${reason}`)
}
