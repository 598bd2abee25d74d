import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** The one configuration of every package's tests; the results are read by tooling/run/test.mjs. */
export default defineConfig({
  test: {
    include: ['{src,test}/**/*.test.ts'],
    // A module is loaded once for all test files of a package: loading them anew took more time than running the tests.
    // No test may therefore leave global state behind; mocks are restored after each.
    isolate: false,
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
