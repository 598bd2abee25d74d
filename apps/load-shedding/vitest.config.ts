import base from '@tooling/vitest'
import { mergeConfig } from 'vitest/config'

// The page's logic is tested where it stands, beside the source of the page.
// Tests wait for instances and a browser, which take their time on a busy machine; two files at once wait together.
export default mergeConfig(base, {
  test: { include: ['web/src/**/*.test.ts'], expect: { poll: { timeout: 20_000 } }, maxWorkers: 2 },
})
