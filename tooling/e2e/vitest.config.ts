import base from '@tooling/vitest'
import { mergeConfig } from 'vitest/config'

// Most tests wait for processes, proxies and package managers, so two concurrent files use two processors.
export default mergeConfig(base, { test: { maxWorkers: 2, maxConcurrency: 4 } })
