/**
 * For operators who want to look into the state of a call.
 *
 * @module @x/server/inspect
 */

export type { JsonObject } from '@x/schema'
export type { KeyedOptions } from '@x/state-codec'
export { inspectState, type StateReport } from './replay/inspect-state.ts'
