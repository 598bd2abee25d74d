import base from '@tooling/vitest'
import { mergeConfig } from 'vitest/config'

// The page's logic is tested where it stands, beside the source of the page.
// Tests wait for processes and a browser: two files at once, and three concurrent tests, keep two processors busy.
export default mergeConfig(base, { test: { include: ['web/src/**/*.test.ts'], maxConcurrency: 3, maxWorkers: 2 } })
