import type { CallOptions, InputAnswers } from '@x/client'
import type { CallToolResult } from '@x/schema'
import type { DetailedTask } from '../schema/task.ts'
import type { SerializedTask } from './serialized-task.ts'

/**
 * A task of the server (seps/2663-tasks-extension). It also runs while no client follows it: a signal that aborts
 * here ends the wait, and `cancel` the task.
 */
export interface TaskHandle extends AsyncIterable<DetailedTask> {
  readonly taskId: string
  /** The tool that it runs. */
  readonly tool: string
  /** Reads its current state. */
  status(options?: CallOptions): Promise<DetailedTask>
  /**
   * Waits for its end and resolves with the result of the call. Its requests for input are answered by the handlers of
   * these options and of the client, each request once. Rejects with `ClientError` for a call that failed, and with
   * `TaskError` for a task without result.
   */
  result(options?: CallOptions): Promise<CallToolResult>
  /**
   * Yields its states to the last: those that are observed, not all that there were. It answers no request for input:
   * `result` does so, also beside it, or `answer`. Iterating over the handle itself is the same without options.
   */
  states(options?: CallOptions): AsyncIterable<DetailedTask>
  /**
   * Answers its open requests for input, or some of them, by key. Rejects with `TaskError` `not_asked` for anything
   * else.
   */
  answer(answers: InputAnswers, options?: CallOptions): Promise<void>
  /** Asks the server to cancel it, which may take time, or come too late. */
  cancel(options?: CallOptions): Promise<void>
  /**
   * Returns the task as plain JSON, for `client.tasks.resume`. Throws `TaskError` `unidentified` where no option said
   * whose it is.
   */
  serialize(): SerializedTask
}
