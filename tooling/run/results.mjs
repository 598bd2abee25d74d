import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/**
 * The packages of the workspace that have tests.
 * @param {string} root
 * @returns {{ name: string, folder: string, directory: string }[]}
 */
export function listTested(root) {
  return ['packages', 'apps', 'tooling'].flatMap((group) =>
    readdirSync(join(root, group))
      .toSorted()
      .flatMap((folder) => {
        const directory = join(root, group, folder)
        const manifest = join(directory, 'package.json')
        if (!existsSync(manifest)) return []
        const { name, scripts } = JSON.parse(readFileSync(manifest, 'utf8'))
        return scripts?.test === undefined ? [] : [{ name, folder: `${group}/${folder}`, directory }]
      }),
  )
}

/**
 * What one package's tests came to. A package without results counts as one failure: it was not built, or crashed.
 * @param {{ directory: string }} one
 * @returns {{ passed: number, failed: string[], skipped: string[], coverage: string }}
 */
export function readResults({ directory }) {
  const file = join(directory, '.results/test.json')
  if (!existsSync(file))
    return {
      passed: 0,
      failed: ['no results: it did not build, or its tests did not start'],
      skipped: [],
      coverage: '',
    }
  const files = JSON.parse(readFileSync(file, 'utf8')).testResults
  const tests = files.flatMap(({ assertionResults }) => assertionResults)
  const broken = files.filter(isBroken).map(({ name }) => `${relative(directory, name)} could not run to its end`)
  return {
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: [...tests.filter(({ status }) => status === 'failed').map(title), ...broken],
    skipped: tests.filter(({ status }) => !['passed', 'failed'].includes(status)).map(title),
    coverage: readCoverage(directory),
  }
}

/** A file may fail without a failed test: at import, or in a hook. */
function isBroken({ status, assertionResults }) {
  return status === 'failed' && !assertionResults.some((test) => test.status === 'failed')
}

function title({ ancestorTitles, title: own }) {
  return [...ancestorTitles, own].filter((part) => part !== '').join(' > ')
}

function readCoverage(directory) {
  const file = join(directory, 'coverage/coverage-summary.json')
  if (process.env.COVERAGE !== '1' || !existsSync(file)) return ''
  const { lines, branches } = JSON.parse(readFileSync(file, 'utf8')).total
  return `${lines.pct} % of lines, ${branches.pct} % of branches`
}

/** The sums over all packages. */
export function tally(results) {
  const sum = (pick) => results.reduce((total, one) => total + pick(one), 0)
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed.length),
    skipped: sum(({ skipped }) => skipped.length),
  }
}
