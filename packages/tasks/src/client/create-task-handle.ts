import { quoteText } from '@x/core'
import type { CallOptions, InputAnswers } from '@x/client'
import type { InputRequests } from '@x/schema'
import type { DetailedTask, GetTaskResult } from '../schema/task.ts'
import { openRequestsOf } from './input-responder.ts'
import { serializeTask } from './serialized-task.ts'
import type { OpenTask } from './open-task.ts'
import { requestCancel, getTask, updateTask } from './task-requests.ts'
import { TaskError } from './task-error.ts'
import type { TaskHandle } from './task-handle.ts'
import { awaitTaskResult } from './task-result.ts'
import { isSameState, watchTask, type WatchTaskOptions } from './watch-task.ts'

export function createTaskHandle(task: OpenTask): TaskHandle {
  const { taskId, tool, requestTracker } = task
  const states: TaskHandle['states'] = (options = {}) => {
    const { signal = new AbortController().signal } = options
    return watchChanges(task, { ...options, signal })
  }
  return {
    taskId,
    tool,
    status: async (options = {}) => withoutResultType(await readState(task, options)),
    result: (options = {}) => awaitTaskResult(task, options),
    states,
    [Symbol.asyncIterator]: () => states()[Symbol.asyncIterator](),
    answer: (answers, options = {}) => sendTaskAnswers(task, answers, options),
    cancel: (options = {}) => requestCancel({ ...task, options }),
    serialize: () => serializeTask({ taskId, tool, answeredKeys: requestTracker.listAnsweredKeys() }, task.settings),
  }
}

/** Skips states that equal the one before. */
async function* watchChanges(task: OpenTask, options: WatchTaskOptions): AsyncGenerator<DetailedTask, void, undefined> {
  let lastState: DetailedTask | undefined
  for await (const state of watchTask(task, options)) {
    task.requestTracker.observe(openRequestsOf(state))
    if (!isSameState(state, lastState)) yield state
    lastState = state
  }
}

async function readState(task: OpenTask, options: CallOptions): Promise<GetTaskResult> {
  const state = await getTask({ ...task, options })
  task.requestTracker.observe(openRequestsOf(state))
  return state
}

function withoutResultType({ resultType: _, ...state }: GetTaskResult): DetailedTask {
  return state
}

async function sendTaskAnswers(task: OpenTask, answers: InputAnswers, options: CallOptions): Promise<void> {
  const { host, tool, requestTracker } = task
  const openRequests = Object.entries(openRequestsOf(await readState(task, options)))
  const inputRequests: InputRequests = Object.fromEntries(
    openRequests.filter(([key, request]) => Object.hasOwn(answers, key) && !requestTracker.isAnswered(key, request)),
  )
  const keys = Object.keys(answers)
  const unknownKey = keys.find((key) => !Object.hasOwn(inputRequests, key))
  if (keys.length === 0 || unknownKey !== undefined) throw notAskedError(task, unknownKey)
  const responses = host.checkAnswers({ name: tool, inputRequests, round: 1 }, answers, options)
  await updateTask({ ...task, options }, responses)
  requestTracker.markAnswered(responses)
}

function notAskedError({ tool }: OpenTask, key: string | undefined): TaskError {
  const reason = key === undefined ? 'no answer was given' : `the key ${quoteText(key)} is not open`
  return new TaskError('not_asked', `The task of ${JSON.stringify(tool)} was not answered: ${reason}`, { tool })
}
