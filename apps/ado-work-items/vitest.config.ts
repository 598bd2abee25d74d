import base from '@tooling/vitest'
import { mergeConfig } from 'vitest/config'

// Tests wait for processes and a browser: two files at once, and three concurrent tests, keep two processors busy.
const workers = process.env['CI'] === 'true' ? {} : { maxConcurrency: 3, maxWorkers: 2 }

export default mergeConfig(base, { test: workers })
