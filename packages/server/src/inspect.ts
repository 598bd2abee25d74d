/**
 * Functions with which operators look at the state of calls.
 *
 * @module @x/server/inspect
 */

export type { JsonObject } from '@x/schema'
export type { KeyedOptions } from '@x/state-codec'
export { inspectState, type StateReport } from './replay/inspect-state.ts'
