import { InputRequestTracker } from './input-request-tracker.ts'
import type { ResumedTask } from './serialized-task.ts'
import type { WatchedTask } from './watch-task.ts'

/** A task for which this client has a handle. */
export interface OpenTask extends WatchedTask {
  readonly requestTracker: InputRequestTracker
  /** The progress that the call reported before it became a task. The task reports only progress that is not lower. */
  readonly progress: number
  /** True once this client knows that the task has ended or is deleted. */
  isFinished: boolean
}

/** The values from which an {@link OpenTask} is created. */
export interface OpenTaskOptions extends Omit<WatchedTask, 'initialState'>, ResumedTask {
  readonly initialState?: WatchedTask['initialState']
  readonly progress?: number | undefined
}

/** Creates an {@link OpenTask}. */
export function openTask({ answeredKeys, initialState, progress = 0, ...taskFields }: OpenTaskOptions): OpenTask {
  return {
    ...taskFields,
    initialState,
    progress,
    requestTracker: new InputRequestTracker(answeredKeys),
    isFinished: false,
  }
}
