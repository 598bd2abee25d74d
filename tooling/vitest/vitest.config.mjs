import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'

/**
 * The tests that a run leaves to CI: what takes half a minute or more and fails for few changes, such as a release to a
 * local registry. `npm test` at a desk excludes them; CI and a run of one package do not.
 */
const testsOfCi = process.env.MCP_TEST_ALL === '0' ? ['**/*.ci.test.ts'] : []

/**
 * The time in milliseconds after which a test, or an expectation that is polled, is taken to hang. It measures nothing:
 * what takes a second at a desk takes half a minute where two processors run ten programs.
 */
const hangMs = 120_000

/**
 * CI tests three packages at once on two processors, so each of them runs one file at a time. More would only make each
 * test slower.
 */
const inCi = process.env.CI === 'true'

/** The one configuration of every package's tests; the results are read by tooling/run/test.mjs. */
export default defineConfig({
  test: {
    include: ['{src,test}/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...testsOfCi],
    // A module is loaded once for all test files of a package: loading them anew took more time than running the tests.
    // No test may therefore leave global state behind; mocks are restored after each.
    isolate: false,
    setupFiles: [fileURLToPath(new URL('./setup.mjs', import.meta.url))],
    reporters: ['default', ['json', { outputFile: '.results/test.json' }]],
    coverage: {
      // That of an application or a tool says little, and costs a fifth of its time.
      enabled: process.env.COVERAGE === '1' && basename(dirname(process.cwd())) === 'packages',
      provider: 'v8',
      include: ['src/**/*.{ts,mjs}'],
      exclude: ['src/**/*.test.ts', 'src/testing/**'],
      reporter: ['text-summary', 'json-summary'],
    },
    ...(inCi && { maxWorkers: 1, maxConcurrency: 2 }),
    testTimeout: hangMs,
    hookTimeout: hangMs,
    expect: { poll: { timeout: hangMs / 2 } },
    restoreMocks: true,
    passWithNoTests: false,
  },
})
