import type { Exchange } from '@x/schema'
import type { TaskSettings } from './options.ts'
import type { TaskChangeBus } from './task-change-bus.ts'

/** The parts that everything about the tasks of one server shares. */
export interface TaskContext {
  /**
   * The server behind the middleware of all other extensions, without `use` and authorization: it runs the calls of
   * tasks.
   */
  readonly innerExchange: Exchange
  readonly settings: TaskSettings
  readonly taskChanges: TaskChangeBus
}
