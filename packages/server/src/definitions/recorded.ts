import type { JsonLeaf, JsonValue } from '@x/schema'

/** The argument of a step's function. */
export interface StepContext {
  /**
   * The same whenever this step of this call runs with the same answers, over replays and retries, and when a client
   * sends a call with an idempotency key again: give it to what the step talks to, because a step runs at least once.
   * At most 165 characters.
   */
  readonly idempotencyKey: string
  /** Aborts when nobody wants the answer any more; a question that is asked meanwhile does not stop a step. */
  readonly signal: AbortSignal
}

/** The result type of a step: JSON, or nothing. `MustBeJson` looks into its objects. */
export type StepResult = JsonLeaf | undefined | void | object

/** The recorded progress of a loop. */
export interface Checkpoint<T> {
  /** The value last saved, in this run or an earlier one; at first, the initial value. */
  readonly value: T
  /**
   * Records how far the loop is: a later run begins from here. Lets the event loop turn when handlers have held it up
   * for about 10 milliseconds, and ends this run when the call is to go on at another instance.
   */
  save(value: T): Promise<void>
}

/**
 * The type that a checkpoint goes on with: one that begins with 0 may save any number, and one that begins with an empty
 * list may save a list of anything. `ctx.checkpoint<{ ids: string[] }>('k', { ids: [] })` says of what.
 */
export type Widened<T> = T extends number
  ? number
  : T extends string
    ? string
    : T extends boolean
      ? boolean
      : WithListsFilled<T>

/** Replaces the type of an empty list, which can hold nothing. */
export type WithListsFilled<T> = T extends readonly never[]
  ? JsonValue[]
  : T extends JsonLeaf | readonly unknown[]
    ? T
    : { [K in keyof T]: WithListsFilled<T[K]> }
