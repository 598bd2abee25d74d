import type { ViteUserConfig } from 'vitest/config'

/** The configuration of a package with files named `*.alone.test.ts`, which run after its other tests, one at a time. */
export function withAloneTests(config: ViteUserConfig): ViteUserConfig

/** The configuration of the script `test-alone`, which runs after the tests of all packages. */
export function onlyAloneTests(config: ViteUserConfig): ViteUserConfig
