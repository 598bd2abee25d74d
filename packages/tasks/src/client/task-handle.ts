import type { CallOptions, InputAnswers } from '@x/client'
import type { CallToolResult } from '@x/schema'
import type { DetailedTask } from '../schema/task.ts'
import type { KeptTask } from './kept-task.ts'

/**
 * A task of the server's (seps/2663-tasks-extension). It goes on whether or not anybody looks: a signal that aborts here ends the
 * waiting, and `cancel` the task.
 */
export interface TaskHandle extends AsyncIterable<DetailedTask> {
  readonly taskId: string
  /** The tool that it runs. */
  readonly tool: string
  /** How it stands now. */
  status(options?: CallOptions): Promise<DetailedTask>
  /**
   * Waits for its end and gives the result of the call. What it asks on the way is answered by the handlers of these options and of the
   * client, each question once. Rejects with `ClientError` for a call that failed, and with `TaskFailure` for a task without result.
   */
  result(options?: CallOptions): Promise<CallToolResult>
  /**
   * Its states, one after the other to the last: those that are seen, not all that there were. Nothing is answered by that: `result` does
   * it, also beside, or `answer`. Iterating over the handle itself is the same without options.
   */
  states(options?: CallOptions): AsyncIterable<DetailedTask>
  /** Answers what it asks now, or a part of that, by key. Rejects with `TaskFailure` `not_asked` for anything else. */
  answer(answers: InputAnswers, options?: CallOptions): Promise<void>
  /** Asks the server to cancel it, which may take time, or come too late. */
  cancel(options?: CallOptions): Promise<void>
  /** The task as plain JSON, for `resumeTask`. Throws `TaskFailure` `unidentified` where nobody said whose it is. */
  keep(): KeptTask
}
