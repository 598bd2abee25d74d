import type { CallOptions, InputAnswers } from '@x/client'
import type { CallToolResult } from '@x/schema'
import type { DetailedTask } from '../schema/task.ts'
import type { SerializedTask } from './serialized-task.ts'

/**
 * A task of the server (seps/2663-tasks-extension), which also runs while no client follows it. A signal that you pass
 * ends only your wait; to end the task, call `cancel`.
 */
export interface TaskHandle extends AsyncIterable<DetailedTask> {
  readonly taskId: string
  /** Name of the tool that the task runs. */
  readonly tool: string
  /** Reads the current state. */
  status(options?: CallOptions): Promise<DetailedTask>
  /**
   * Waits until the task has ended, and resolves with the result of the call. Each request for input is answered once,
   * by the handlers in `options` and of the client. Rejects with `ClientError` if the call failed, and with `TaskError`
   * if the task has no result.
   */
  result(options?: CallOptions): Promise<CallToolResult>
  /**
   * Yields the states that polls or notifications observe, up to the final one. Requests for input stay unanswered, so
   * call `result` at the same time, or `answer`. Iterating over the handle is the same as calling `states` without
   * options.
   */
  states(options?: CallOptions): AsyncIterable<DetailedTask>
  /** Answers some or all open requests for input, by key. Rejects with `TaskError` `not_asked` if a key is not open. */
  answer(answers: InputAnswers, options?: CallOptions): Promise<void>
  /** Asks the server to cancel the task, which may end later, or may have ended before. */
  cancel(options?: CallOptions): Promise<void>
  /**
   * Makes plain JSON of the task, for `client.tasks.resume`. Throws `TaskError` `unidentified` if the options do not
   * say which server or user.
   */
  serialize(): SerializedTask
}
