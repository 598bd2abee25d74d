import base from '@tooling/vitest'
import { defineConfig } from 'vitest/config'

export const chaosTests = 'test/*-chaos.test.ts'
const { reporters = 'default', coverage = {}, exclude = [], ...shared } = base.test ?? {}

// Most tests wait for processes, proxies and package managers: two files at once keep two processors busy. Tests of
// chance run after them, one file at a time: their instances must not wait for a processor. `npm test` leaves them to
// the script `test-alone`, which runs after the tests of all packages.
export default defineConfig({
  test: {
    reporters,
    coverage,
    projects: [
      {
        test: {
          ...shared,
          name: 'side by side',
          exclude: [...exclude, chaosTests],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: { ...shared, name: 'chaos', include: [chaosTests], maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
})
