import base from '@tooling/vitest'
import { defineConfig } from 'vitest/config'
import { chaosTests } from './vitest.config.ts'

/** The tests of chance, for the script `test-alone`. They start processes, and cover no source of this package. */
export default defineConfig({
  test: {
    ...base.test,
    include: [chaosTests],
    maxWorkers: 1,
    coverage: { enabled: false },
    reporters: ['default', ['json', { outputFile: '.results/test-alone.json' }]],
  },
})
