import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { isNight, leftOut } from './scope.mjs'

const leftOutFiles = leftOut[process.env.MCP_TEST_SCOPE ?? '']?.patterns ?? []

/**
 * The time in milliseconds after which a test or a polled expectation counts as hanging. It is not a limit of speed: a
 * test of one second takes half a minute if two processors run ten programs. At night, chaos has its whole size.
 */
const hangMs = isNight ? 900_000 : 120_000

/**
 * CI tests three packages at once on two processors, so each of them runs one file at a time. More would only make each
 * test slower.
 */
const inCi = process.env.CI === 'true'

/** The configuration of every package's tests. tooling/run/test.mjs reads the results. */
export default defineConfig({
  test: {
    include: ['{src,test}/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...leftOutFiles],
    // A module is loaded once for all test files of a package, because loading takes longer than the tests. So no test
    // may leave global state behind. Mocks are restored after each test.
    isolate: false,
    setupFiles: [fileURLToPath(new URL('./setup.mjs', import.meta.url))],
    reporters: ['default', ['json', { outputFile: '.results/test.json' }]],
    coverage: {
      // Coverage of applications and tools is little use, and costs a fifth of the time.
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
