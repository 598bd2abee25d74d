const ofCi = /\.ci\.test\.ts$/
const ofNight = /\.night(?:\.alone)?\.test\.ts$/
const chaos = /-chaos\.test\.ts$/

/**
 * The test files that a run leaves out, by what the run is for (`MCP_TEST_SCOPE`). A newcomer waits for neither chaos
 * nor tests such as that of published types, which take long and fail for few changes. CI judges a change with small
 * chaos. The night, and a run of one package, leave nothing out.
 * @type {Readonly<Record<string, { patterns: readonly string[], matches: (file: string) => boolean }>>}
 */
export const leftOut = {
  newcomer: {
    patterns: ['**/*.ci.test.ts', '**/*.night.test.ts', '**/*.night.alone.test.ts', '**/*-chaos.test.ts'],
    matches: (file) => ofCi.test(file) || ofNight.test(file) || chaos.test(file),
  },
  change: {
    patterns: ['**/*.night.test.ts', '**/*.night.alone.test.ts'],
    matches: (file) => ofNight.test(file),
  },
}

/** True in the run of the night, and with `NIGHT=1 npm test -- PACKAGE WORD`. */
export const isNight = process.env['NIGHT'] === '1'

/**
 * The seed of tests of chance. A change is judged by the same cases as the one before it, so that it does not fail for
 * what is not its own. New cases are drawn at night. A test prints its seed, and `MCP_TEST_SEED` repeats it.
 */
export const testSeed = Number(process.env['MCP_TEST_SEED'] ?? (isNight ? Math.floor(Math.random() * 2 ** 31) : 1))
