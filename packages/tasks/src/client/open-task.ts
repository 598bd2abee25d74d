import { type InputRequestTracker, createInputRequestTracker } from './input-request-tracker.ts'
import type { ResumedTask } from './serialized-task.ts'
import type { WatchedTask } from './watch-task.ts'

/** A task that this client has a handle of. */
export interface OpenTask extends WatchedTask {
  readonly requestTracker: InputRequestTracker
  /** The progress before the call became a task: that of the task continues from there. */
  readonly progress: number
  /** True once the task is known to have ended or to be deleted. */
  isFinished: boolean
}

/** The parts of an {@link OpenTask}. */
export interface OpenTaskOptions extends Omit<WatchedTask, 'initialState'>, ResumedTask {
  readonly initialState?: WatchedTask['initialState']
  readonly progress?: number | undefined
}

/** Makes an {@link OpenTask}. */
export function openTask({ answeredKeys, initialState, progress = 0, ...taskFields }: OpenTaskOptions): OpenTask {
  return {
    ...taskFields,
    initialState,
    progress,
    requestTracker: createInputRequestTracker(answeredKeys),
    isFinished: false,
  }
}
