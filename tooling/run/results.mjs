import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { leftOut } from '../vitest/scope.mjs'

/** Signed tokens, and credentials that authorization servers of tests issue. */
const credential = /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}|\bcanary-\w+-[0-9a-f]{8}-/

/**
 * @typedef {{ name: string, folder: string, directory: string, script: string }} Tested A package of the workspace with
 *   tests, and the script of its manifest that runs them.
 * @typedef {{ file: string, seconds: number }} FileTime
 * @typedef {{ passed: number, failed: string[], skipped: string[], coverage: string, seconds: number, files: FileTime[] }}
 *   Results
 * @typedef {{ status: string, title: string, ancestorTitles: string[] }} Test A test in the output of vitest's JSON
 *   reporter.
 * @typedef {{ name: string, status: string, startTime: number, endTime: number, assertionResults: Test[] }} TestFile Times
 *   are milliseconds since 1970.
 */

/**
 * Lists the packages of the workspace that have tests, tests that run alone, or a build.
 * @param {string} root
 * @param {'test' | 'test-alone' | 'build'} [script]
 * @returns {Tested[]}
 */
export function listTested(root, script = 'test') {
  const folders = ['packages', 'apps', 'tooling'].flatMap((group) =>
    existsSync(join(root, group))
      ? readdirSync(join(root, group))
          .toSorted()
          .map((name) => `${group}/${name}`)
      : [],
  )
  return folders.flatMap((folder) => {
    const directory = join(root, folder)
    const manifest = join(directory, 'package.json')
    if (!existsSync(manifest)) return []
    const { name, scripts } = JSON.parse(readFileSync(manifest, 'utf8'))
    return scripts?.[script] === undefined ? [] : [{ name, folder, directory, script }]
  })
}

/**
 * Reads the results of a script of a package. A package without results counts as one failure: its build or its test
 * run failed.
 * @param {{ directory: string, script: string }} one
 * @returns {Results}
 */
export function readResults({ directory, script }) {
  const file = join(directory, `.results/${script}.json`)
  if (!existsSync(file)) {
    const failed = ['no results: the package did not build, or its tests did not start']
    return { passed: 0, failed, skipped: [], coverage: '', seconds: 0, files: [] }
  }
  /** @type {{ startTime: number, testResults: TestFile[] }} */
  const { startTime, testResults: files } = JSON.parse(readFileSync(file, 'utf8'))
  const tests = files.flatMap(({ assertionResults }) => assertionResults)
  const broken = files.filter(isBroken).map(({ name }) => `${relative(directory, name)} did not complete`)
  const leaks = findCredentials(directory, script).map((path) => `${path} contains a token or another credential`)
  return {
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: [...tests.filter(({ status }) => status === 'failed').map(titleOf), ...broken, ...leaks],
    skipped: tests.filter(({ status }) => !['passed', 'failed'].includes(status)).map(titleOf),
    coverage: script === 'test' ? readCoverage(directory) : '',
    seconds: (Math.max(startTime, ...files.map(({ endTime }) => endTime)) - startTime) / 1000,
    files: files.map((one) => ({ file: relative(directory, one.name), seconds: (one.endTime - one.startTime) / 1000 })),
  }
}

/**
 * Lists the test files that a run leaves out.
 * @param {string} directory
 * @param {string} scope
 */
export function listLeftOut(directory, scope) {
  return ['src', 'test']
    .map((folder) => join(directory, folder))
    .filter(existsSync)
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted())
    .filter((file) => leftOut[scope]?.matches(file) ?? false)
}

/**
 * Returns the paths of the log and of the result files of a test run that contain a credential.
 * @param {string} directory
 * @param {string} script
 */
function findCredentials(directory, script) {
  const results = readdirSync(join(directory, '.results'), { recursive: true, withFileTypes: true })
  const written = results.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return [join(directory, `.turbo/turbo-${script}.log`), ...written]
    .filter((path) => existsSync(path) && credential.test(readFileSync(path, 'utf8')))
    .map((path) => relative(directory, path))
}

/**
 * Returns true for a file that failed without a failed test: at import, or in a hook.
 * @param {TestFile} file
 */
function isBroken({ status, assertionResults }) {
  return status === 'failed' && !assertionResults.some((test) => test.status === 'failed')
}

/** @param {Test} test */
function titleOf({ ancestorTitles, title }) {
  return [...ancestorTitles, title].filter((part) => part !== '').join(' > ')
}

/** @param {string} directory */
function readCoverage(directory) {
  const file = join(directory, 'coverage/coverage-summary.json')
  if (process.env['COVERAGE'] !== '1' || !existsSync(file)) return ''
  const { lines, branches } = JSON.parse(readFileSync(file, 'utf8')).total
  return `${lines.pct} % of lines, ${branches.pct} % of branches`
}

/**
 * Returns the last line of a run: the numbers of passed, failed and skipped tests.
 * @param {readonly Results[]} results
 */
export function countLine(results) {
  const passed = results.reduce((sum, one) => sum + one.passed, 0)
  const failed = results.reduce((sum, one) => sum + one.failed.length, 0)
  const skipped = results.reduce((sum, one) => sum + one.skipped.length, 0)
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
