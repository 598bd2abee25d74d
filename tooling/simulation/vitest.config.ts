import base from '@tooling/vitest'
import { withAloneTests } from '@tooling/vitest/alone'
import { mergeConfig } from 'vitest/config'

/** Files run one at a time, because each of them uses all cores, and one starts processes. */
export default withAloneTests(mergeConfig(base, { test: { maxWorkers: 1 } }))
