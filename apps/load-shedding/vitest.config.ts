import base from '@tooling/vitest'
import { withAloneTests } from '@tooling/vitest/alone'
import { mergeConfig } from 'vitest/config'

// The tests of the page's logic are beside its source, in `web`.
export default withAloneTests(mergeConfig(base, { test: { include: ['web/src/**/*.test.ts'] } }))
