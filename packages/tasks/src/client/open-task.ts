import { type AskedKeys, askedKeys } from './asked-keys.ts'
import type { TakenUp } from './kept-task.ts'
import type { WatchedTask } from './watch-task.ts'

/** A task that this client has a handle of. */
export interface OpenTask extends WatchedTask {
  readonly asked: AskedKeys
  /** How much progress was told before the call became a task: what is told of the task goes on from there. */
  readonly progress: number
  /** Whether it is known to have ended, or to be no more. */
  isOver: boolean
}

/** What an {@link OpenTask} is made of. */
export interface OpenTaskParts extends Omit<WatchedTask, 'seed'>, TakenUp {
  readonly seed?: WatchedTask['seed']
  readonly progress?: number | undefined
}

/** Makes an {@link OpenTask}. */
export function openTask({ answered, seed, progress = 0, ...parts }: OpenTaskParts): OpenTask {
  return { ...parts, seed, progress, asked: askedKeys(answered), isOver: false }
}
