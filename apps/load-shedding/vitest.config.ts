import base from '@tooling/vitest'
import { mergeConfig } from 'vitest/config'

// The page's logic is tested where it stands, beside the source of the page.
// What instances and a browser do is waited for: on a busy machine it takes its time.
export default mergeConfig(base, { test: { include: ['web/src/**/*.test.ts'], expect: { poll: { timeout: 20_000 } } } })
