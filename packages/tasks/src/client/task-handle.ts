import type { CallOptions, InputAnswers } from '@x/client'
import type { CallToolResult } from '@x/schema'
import type { DetailedTask } from '../schema/task.ts'
import type { SerializedTask } from './serialized-task.ts'

/**
 * A task of the server (seps/2663-tasks-extension). The task also runs while no client follows it. A signal that aborts
 * one of these functions only ends the wait. To end the task, call `cancel`.
 */
export interface TaskHandle extends AsyncIterable<DetailedTask> {
  readonly taskId: string
  /** The tool that the task runs. */
  readonly tool: string
  /** Reads the current state of the task. */
  status(options?: CallOptions): Promise<DetailedTask>
  /**
   * Waits until the task has ended, and resolves with the result of the call. Handlers in `options` and of the client
   * answer each request for input of the task once. Rejects with `ClientError` if the call failed, and with `TaskError`
   * if the task has no result.
   */
  result(options?: CallOptions): Promise<CallToolResult>
  /**
   * Yields the states of the task that polls or notifications observe, up to the final state. It does not answer
   * requests for input, so call `result` at the same time, or `answer`. To iterate over the handle is the same as to
   * call `states` without options.
   */
  states(options?: CallOptions): AsyncIterable<DetailedTask>
  /**
   * Answers some or all open requests for input of the task, by key. Rejects with `TaskError` `not_asked` if a key is
   * not open.
   */
  answer(answers: InputAnswers, options?: CallOptions): Promise<void>
  /** Requests the server to cancel the task. The task may end later, or may have ended before. */
  cancel(options?: CallOptions): Promise<void>
  /**
   * Returns the task as plain JSON, for `client.tasks.resume`. Throws `TaskError` `unidentified` if the server or the
   * user is not known from the options.
   */
  serialize(): SerializedTask
}
