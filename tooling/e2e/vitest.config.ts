import base from '@tooling/vitest'
import { mergeConfig } from 'vitest/config'

// Tests wait for processes, proxies and package managers: two files at once keep two processors busy.
export default mergeConfig(base, { test: { maxWorkers: 2 } })
