import base from '@tooling/vitest'
import { withAloneTests } from '@tooling/vitest/alone'
import { mergeConfig } from 'vitest/config'

// Most tests wait for processes, proxies and package managers, so two concurrent files use two processors. On CI the
// other packages are tested at the same time.
const workers = { maxWorkers: process.env['CI'] === 'true' ? 1 : 2 }

export default withAloneTests(mergeConfig(base, { test: workers }))
