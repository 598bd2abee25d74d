import type { JsonObject } from '@x/schema'
import type { ReadOptions } from './call-options.ts'
import type { CompleteResults } from './complete-results.ts'
import type { InputRequired, MultiRoundMethod } from './input-required.ts'

/** A call that may need several requests. */
export interface MultiRoundCall<M extends MultiRoundMethod> {
  readonly method: M
  /** The params of every request of the call, without answers and state. */
  readonly params: JsonObject
  readonly options: ReadOptions
  /** Sends one request of the call. */
  readonly attempt: (params: JsonObject, options: ReadOptions) => Promise<CompleteResults[M] | InputRequired>
  /** Returns true if repeating the work of earlier rounds is known to be harmless. */
  readonly isRestartable: () => boolean
  /** Checks the complete result. Throws the error that the call rejects with. */
  readonly check?: ((result: CompleteResults[M]) => void) | undefined
}
