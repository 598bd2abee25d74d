import base from '@tooling/vitest'
import { mergeConfig } from 'vitest/config'

// The tests of the page's logic are beside its source, in `web`. Instances and a browser start slowly on a busy
// machine, so two test files run at a time and polls have a long timeout.
export default mergeConfig(base, {
  test: { include: ['web/src/**/*.test.ts'], expect: { poll: { timeout: 20_000 } }, maxWorkers: 2 },
})
