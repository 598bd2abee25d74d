import type { JsonObject } from '@x/schema'
import type { Context, InputRequiredReturn, TaskChoice } from '../definitions/context.ts'
import type { Awaitable } from '../request/awaitable.ts'

/** The code that runs for a call: the author's function, and how its return value becomes a result. */
export interface Handler<T> {
  /** A tool's or prompt's name, or a resource's URI. */
  readonly name: string
  readonly run: (ctx: Context) => Awaitable<T | InputRequiredReturn>
  readonly toResult: (returnValue: T) => Awaitable<JsonObject>
  /** The author's choice whether the call becomes a task before the handler runs. */
  readonly task?: TaskChoice | undefined
  /**
   * True if the handler may have effects. Its result is then stored for calls that are sent again; a handler without
   * effects just runs again.
   */
  readonly hasEffects?: boolean | undefined
}

/** A handler's return value, or the error that it threw. */
export type RunOutcome<T> = { readonly returned: T | InputRequiredReturn } | { readonly thrown: unknown }
