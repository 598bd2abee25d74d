import base from '@tooling/vitest'
import { mergeConfig } from 'vitest/config'

// The page's logic is tested where it stands, beside the source of the page.
export default mergeConfig(base, { test: { include: ['web/src/**/*.test.ts'] } })
