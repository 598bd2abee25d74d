import type { JsonObject } from '@x/schema'
import type { ReadOptions } from './call-options.ts'
import type { CompleteResults } from './complete-results.ts'
import type { InputRequired, MultiRoundMethod } from './input-required.ts'

export interface MultiRoundCall<M extends MultiRoundMethod> {
  readonly method: M
  /** Params of each of its requests, without answers and state. */
  readonly params: JsonObject
  readonly options: ReadOptions
  /** Sends one of its requests. */
  readonly attempt: (params: JsonObject, options: ReadOptions) => Promise<CompleteResults[M] | InputRequired>
  /** True if repeating the work of earlier rounds is known to be harmless. */
  readonly isRestartable: () => boolean | Promise<boolean>
  /** Checks the complete result. What it throws, the call rejects with. */
  readonly check?: ((result: CompleteResults[M]) => void) | undefined
}
