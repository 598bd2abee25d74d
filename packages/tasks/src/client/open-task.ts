import { InputRequestTracker } from './input-request-tracker.ts'
import type { ResumedTask } from './serialized-task.ts'
import type { WatchedTask } from './watch-task.ts'

/** A task for which this client has a handle. */
export interface OpenTask extends WatchedTask {
  readonly requestTracker: InputRequestTracker
  /** What the call reported before it became a task. Lower progress of the task is not reported. */
  readonly progress: number
  /** True once this client knows that the task has ended or is deleted. */
  isFinished: boolean
}

export function openTask({
  answeredKeys,
  initialState,
  progress = 0,
  ...taskFields
}: ResumedTask & Omit<WatchedTask, 'initialState'> & Partial<Pick<OpenTask, 'initialState' | 'progress'>>): OpenTask {
  return {
    ...taskFields,
    initialState,
    progress,
    requestTracker: new InputRequestTracker(answeredKeys),
    isFinished: false,
  }
}
