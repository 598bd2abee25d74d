import { defineConfig } from 'vitest/config'

/** The files whose tests depend on times or measure CPU, so that no other test may run beside them. */
const aloneFiles = '{src,test}/**/*.alone.test.ts'

/**
 * Returns the configuration of a package with files named `*.alone.test.ts`, which run after its other tests, one at a
 * time. `npm test` runs the project "side by side" beside the tests of other packages. The script `test-alone` runs
 * these files afterwards.
 * @param {import('vitest/config').ViteUserConfig} config
 */
export function withAloneTests({ test = {} }) {
  const { reporters = 'default', coverage = {}, include = [], exclude = [], ...shared } = test
  return defineConfig({
    test: {
      reporters,
      coverage,
      projects: [
        {
          test: {
            ...shared,
            name: 'side by side',
            include,
            exclude: [...exclude, aloneFiles],
            sequence: { groupOrder: 0 },
          },
        },
        {
          test: {
            ...shared,
            name: 'alone',
            include: [aloneFiles],
            exclude,
            maxWorkers: 1,
            sequence: { groupOrder: 1 },
          },
        },
      ],
    },
  })
}

/**
 * Returns the configuration of the script `test-alone`, which runs after the tests of all packages. Coverage is
 * disabled, because these tests start processes.
 * @param {import('vitest/config').ViteUserConfig} config
 */
export function onlyAloneTests({ test = {} }) {
  return defineConfig({
    test: {
      ...test,
      include: [aloneFiles],
      maxWorkers: 1,
      coverage: { enabled: false },
      // Those of some packages are all left to the night.
      passWithNoTests: true,
      reporters: ['default', ['json', { outputFile: '.results/test-alone.json' }]],
    },
  })
}
