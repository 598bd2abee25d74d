import type { CallOptions, InputAnswers } from '@x/client'
import type { CallToolResult } from '@x/schema'
import type { DetailedTask } from '../schema/task.ts'
import type { SerializedTask } from './serialized-task.ts'

/**
 * A task of the server (seps/2663-tasks-extension). The task also runs while no client follows it: a signal that aborts
 * here ends the wait alone, and `cancel` ends the task.
 */
export interface TaskHandle extends AsyncIterable<DetailedTask> {
  readonly taskId: string
  /** The tool that the task runs. */
  readonly tool: string
  /** Reads the current state of the task. */
  status(options?: CallOptions): Promise<DetailedTask>
  /**
   * Waits for the end of the task and resolves with the result of the call. The handlers of these options and of the
   * client answer the requests for input of the task, each request once. Rejects with `ClientError` for a call that failed, and with
   * `TaskError` for a task without result.
   */
  result(options?: CallOptions): Promise<CallToolResult>
  /**
   * Yields the states of the task that polls or notifications observe, to the last one. Answers no request for input:
   * `result` does so, also at the same time, or `answer`. Iterating over the handle itself is the same without options.
   */
  states(options?: CallOptions): AsyncIterable<DetailedTask>
  /**
   * Answers open requests for input of the task, all or some, by key. Rejects with `TaskError` `not_asked` for another
   * key.
   */
  answer(answers: InputAnswers, options?: CallOptions): Promise<void>
  /** Requests the server to cancel the task, which may take time, or come too late. */
  cancel(options?: CallOptions): Promise<void>
  /**
   * Returns the task as plain JSON, for `client.tasks.resume`. Throws `TaskError` `unidentified` where no option
   * names the server or the user.
   */
  serialize(): SerializedTask
}
