import { mergeConfig } from 'vitest/config'
import shared from '@tooling/vitest'

/** Files run one after another, because each of them uses all cores, and one starts processes of its own. */
export default mergeConfig(shared, { test: { fileParallelism: false, testTimeout: 120_000 } })
