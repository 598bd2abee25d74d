import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** The one configuration of every package's tests; the results are read by tooling/run/test.mjs. */
export default defineConfig({
  test: {
    include: ['{src,test}/**/*.test.ts'],
    setupFiles: [fileURLToPath(new URL('./setup.mjs', import.meta.url))],
    reporters: ['default', ['json', { outputFile: '.results/test.json' }]],
    coverage: {
      enabled: process.env.COVERAGE === '1',
      provider: 'v8',
      include: ['src/**/*.{ts,mjs}'],
      exclude: ['src/**/*.test.ts', 'src/testing/**'],
      reporter: ['text-summary', 'json-summary'],
    },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    restoreMocks: true,
    passWithNoTests: false,
  },
})
