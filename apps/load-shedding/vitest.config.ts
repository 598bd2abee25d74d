import base from '@tooling/vitest'
import { withAloneTests } from '@tooling/vitest/alone'
import { mergeConfig } from 'vitest/config'

// The page's logic is tested where it stands, beside the source of the page.
export default withAloneTests(mergeConfig(base, { test: { include: ['web/src/**/*.test.ts'] } }))
