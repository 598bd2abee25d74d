import type { ViteUserConfig } from 'vitest/config'

/** The configuration of every package's tests. */
declare const config: ViteUserConfig
export default config
