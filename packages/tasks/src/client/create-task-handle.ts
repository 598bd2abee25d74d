import type { CallOptions, InputAnswers } from '@x/client'
import type { InputRequests } from '@x/schema'
import type { DetailedTask } from '../schema/task.ts'
import { serializeTask } from './serialized-task.ts'
import type { OpenTask } from './open-task.ts'
import { cancelTask, getTask, updateTask } from './task-requests.ts'
import { TaskError } from './task-error.ts'
import type { TaskHandle } from './task-handle.ts'
import { awaitTaskResult } from './task-result.ts'
import { watchTask } from './watch-task.ts'

/** Creates the {@link TaskHandle} of a task. */
export function createTaskHandle(task: OpenTask): TaskHandle {
  const { taskId, tool, requestTracker } = task
  const states: TaskHandle['states'] = (options = {}) => {
    const { signal = new AbortController().signal } = options
    return watchTask(task, { ...options, signal })
  }
  return {
    taskId,
    tool,
    status: async (options = {}) => withoutResultType(await getTask({ ...task, options })),
    result: (options = {}) => awaitTaskResult(task, options),
    states,
    [Symbol.asyncIterator]: () => states()[Symbol.asyncIterator](),
    answer: (answers, options = {}) => sendTaskAnswers(task, answers, options),
    cancel: (options = {}) => cancelTask({ ...task, options }),
    serialize: () =>
      serializeTask({ taskId, tool, answeredKeys: [...requestTracker.answeredRequestKeys] }, task.settings),
  }
}

function withoutResultType({ resultType: _, ...state }: DetailedTask & { readonly resultType: string }): DetailedTask {
  return state
}

async function sendTaskAnswers(task: OpenTask, answers: InputAnswers, options: CallOptions): Promise<void> {
  const { host, tool, requestTracker } = task
  const taskState = await getTask({ ...task, options })
  const openRequests: InputRequests = taskState.status === 'input_required' ? taskState.inputRequests : {}
  const keys = Object.keys(answers)
  const unknownKey = keys.find(
    (key) => !Object.hasOwn(openRequests, key) || requestTracker.answeredRequestKeys.has(key),
  )
  if (keys.length === 0 || unknownKey !== undefined) throw notAskedError(task, unknownKey)
  const inputRequests = Object.fromEntries(Object.entries(openRequests).filter(([key]) => keys.includes(key)))
  const responses = host.checkAnswers({ name: tool, inputRequests, round: 1 }, answers, options)
  await updateTask({ ...task, options }, responses)
  requestTracker.markAnswered(keys)
}

function notAskedError({ tool }: OpenTask, key: string | undefined): TaskError {
  const reason = key === undefined ? 'no answer was given' : `the key ${JSON.stringify(key.slice(0, 128))} is not open`
  return new TaskError('not_asked', `The task of ${JSON.stringify(tool)} was not answered: ${reason}`, { tool })
}
