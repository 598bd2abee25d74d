import type { ViteUserConfig } from 'vitest/config'

/**
 * Returns the configuration of a package with files named `*.alone.test.ts`, which run after its other tests, one at a
 * time.
 */
export function withAloneTests(config: ViteUserConfig): ViteUserConfig

/** Returns the configuration of the script `test-alone`, which runs after the tests of all packages. */
export function onlyAloneTests(config: ViteUserConfig): ViteUserConfig
