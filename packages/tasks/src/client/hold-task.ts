import type { CallOptions, InputAnswers } from '@x/client'
import type { InputRequests } from '@x/schema'
import type { DetailedTask } from '../schema/task.ts'
import { keepTask } from './kept-task.ts'
import type { OpenTask } from './open-task.ts'
import { cancelTask, getTask, updateTask } from './task-calls.ts'
import { TaskFailure } from './task-failure.ts'
import type { TaskHandle } from './task-handle.ts'
import { taskResult } from './task-result.ts'
import { watchTask } from './watch-task.ts'

/** Makes the {@link TaskHandle} of a task. */
export function holdTask(task: OpenTask): TaskHandle {
  const { taskId, tool, asked } = task
  const states: TaskHandle['states'] = (how = {}) => {
    const { signal = new AbortController().signal } = how
    return watchTask(task, { ...how, signal })
  }
  return {
    taskId,
    tool,
    status: async (how = {}) => withoutType(await getTask({ ...task, how })),
    result: (how = {}) => taskResult(task, how),
    states,
    [Symbol.asyncIterator]: () => states()[Symbol.asyncIterator](),
    answer: (answers, how = {}) => answerNow(task, answers, how),
    cancel: (how = {}) => cancelTask({ ...task, how }),
    keep: () => keepTask({ taskId, tool, answered: [...asked.answered] }, task.settings),
  }
}

function withoutType({ resultType: _, ...state }: DetailedTask & { readonly resultType: string }): DetailedTask {
  return state
}

async function answerNow(task: OpenTask, answers: InputAnswers, how: CallOptions): Promise<void> {
  const { client, tool, asked } = task
  const state = await getTask({ ...task, how })
  const open: InputRequests = state.status === 'input_required' ? state.inputRequests : {}
  const keys = Object.keys(answers)
  const extra = keys.find((key) => !Object.hasOwn(open, key) || asked.answered.has(key))
  if (keys.length === 0 || extra !== undefined) throw notAsked(task, extra)
  const inputRequests = Object.fromEntries(Object.entries(open).filter(([key]) => keys.includes(key)))
  const responses = client.parts.checkAnswers({ name: tool, inputRequests: inputRequests, round: 1 }, answers, how)
  await updateTask({ ...task, how }, responses)
  asked.settle(keys)
}

function notAsked({ tool }: OpenTask, key: string | undefined): TaskFailure {
  const what = key === undefined ? 'no answer was given' : `it does not ask ${JSON.stringify(key.slice(0, 128))} now`
  return new TaskFailure('not_asked', `The task of ${JSON.stringify(tool)} was not answered: ${what}`, { tool })
}
