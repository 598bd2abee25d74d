import type { JsonValue } from '@x/schema'

/** What a step's function is given. */
export interface StepContext {
  /**
   * The same whenever this step of this call runs, over replays and retries: give it to what the step talks to, because a
   * step runs at least once. At most 165 characters.
   */
  readonly idempotencyKey: string
  /** Aborts when nobody wants the answer any more; a question that is asked meanwhile does not stop a step. */
  readonly signal: AbortSignal
}

/** What a step may give: JSON, or nothing. */
export type StepResult = JsonValue | void

/** How far a loop has come. */
export interface Checkpoint<T extends JsonValue> {
  /** What was saved last, in this run or in an earlier one; at first, what the checkpoint began with. */
  readonly value: T
  /**
   * Records how far the loop is: a later run begins from here. Lets the event loop turn when handlers have held it up for
   * about 10 milliseconds, and ends this run when the call is to go on at another instance.
   */
  save(value: T): Promise<void>
}

/** The type that a checkpoint goes on with: one that begins with 0 may save any number. */
export type Widened<T extends JsonValue> = T extends number
  ? number
  : T extends string
    ? string
    : T extends boolean
      ? boolean
      : T
