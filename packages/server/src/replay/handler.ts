import type { JsonObject } from '@x/schema'
import type { Context, InputRequiredReturn, TaskChoice } from '../definitions/context.ts'
import type { Awaitable } from '../request/awaitable.ts'

/** A handler, and the conversion of its return value into a result. */
export interface Handler<T> {
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name: string
  readonly run: (ctx: Context) => Awaitable<T | InputRequiredReturn>
  readonly toResult: (returnValue: T) => Awaitable<JsonObject>
  /** The author's choice whether the call becomes a task before the handler runs. */
  readonly task?: TaskChoice | undefined
  /**
   * True if the handler may have effects, so that its result is stored for calls that are sent again. Without effects,
   * the handler runs again instead.
   */
  readonly hasEffects?: boolean | undefined
}

/** The return value of a handler, or the error that it threw. */
export type RunOutcome<T> = { readonly returned: T | InputRequiredReturn } | { readonly thrown: unknown }
