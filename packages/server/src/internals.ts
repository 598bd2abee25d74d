/**
 * Parts of a server for the packages and tests of this repository: no promise of stability.
 *
 * @module @x/server/internals
 */

export { type InternalSettings, internalSettings } from './definitions/internal-settings.ts'
export type { SheddingCall, SheddingSettings } from './shedding/shedding-options.ts'
export { sheddingSettings } from './shedding/shedding-rules.ts'
