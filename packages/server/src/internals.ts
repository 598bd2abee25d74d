/**
 * Parts of a server for the packages and tests of this repository. They may change in any release.
 *
 * @module @x/server/internals
 */

export { type InternalSettings, internalSettings } from './definitions/internal-settings.ts'
export type { SheddingCall, SheddingSettings } from './shedding/shedding-options.ts'
export { sheddingSettings } from './shedding/shedding-rules.ts'
