import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The number of test files that are printed. */
const slowestFiles = 20

/**
 * @typedef {{ scope: string, seconds: number, stages: Record<string, number>, packages: Record<string, number>,
 *   slowest: Record<string, number>, passed: number, failed: number }} Times Seconds by name. `seconds` is the sum of the
 *   stages.
 */

/**
 * Measures a run: its stages, its packages, and its slowest test files. The stages before the tests are those that
 * `.ci/stages.sh` has written into the file that `CI_STAGES` names.
 * @param {readonly ({ name: string, folder: string } & import('./results.mjs').Results)[]} results
 * @param {{ scope: string, seconds: number }} run
 * @returns {Times}
 */
export function measureTimes(results, { scope, seconds }) {
  const files = results.flatMap(({ folder, files: own }) =>
    own.map((one) => /** @type {[string, number]} */ ([`${folder}/${one.file}`, one.seconds])),
  )
  const stages = { ...readStages(process.env['CI_STAGES'] ?? ''), tests: Math.round(seconds) }
  return {
    scope,
    seconds: Object.values(stages).reduce((sum, one) => sum + one, 0),
    stages,
    packages: Object.fromEntries(slowest(results.map((one) => [one.name, one.seconds]))),
    slowest: Object.fromEntries(slowest(files).slice(0, slowestFiles)),
    passed: results.reduce((sum, { passed }) => sum + passed, 0),
    failed: results.reduce((sum, { failed }) => sum + failed.length, 0),
  }
}

/**
 * Formats the stages of a run, if there are several, and its slowest test files.
 * @param {Times} times
 */
export function timeLines({ stages, slowest, seconds }) {
  const rows = Object.entries(stages)
  const before =
    rows.length > 1 ? ['seconds of each stage:', ...rows.map(lineOf), lineOf(['in total', seconds]), ''] : []
  return [...before, 'seconds of the slowest test files:', ...Object.entries(slowest).map(lineOf)]
}

/**
 * @param {string} path
 * @param {Times} times
 */
export function writeTimes(path, times) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(times, null, 2)}\n`)
}

/**
 * Prints how many packages have their results, each time one more has, until the returned function is called.
 * @param {readonly { name: string, directory: string, script: string }[]} tested
 */
export function showProgress(tested) {
  const started = performance.now()
  const pending = new Set(tested)
  const timer = setInterval(() => {
    for (const one of pending) {
      if (!existsSync(join(one.directory, `.results/${one.script}.json`))) continue
      pending.delete(one)
      const seconds = ((performance.now() - started) / 1000).toFixed(0)
      console.log(`${tested.length - pending.size} of ${tested.length} packages, ${seconds} s: ${one.name}`)
    }
  }, 500)
  return () => clearInterval(timer)
}

/**
 * Reads lines of seconds and a name.
 * @param {string} path
 * @returns {Record<string, number>}
 */
function readStages(path) {
  if (!existsSync(path)) return {}
  const rows = readFileSync(path, 'utf8').trim().split('\n')
  return Object.fromEntries(rows.map((row) => row.split('\t')).map(([seconds, name]) => [name, Number(seconds)]))
}

/** @param {readonly (readonly [string, number])[]} rows */
function slowest(rows) {
  return rows
    .toSorted(([, left], [, right]) => right - left)
    .map(([name, seconds]) => [name, Math.round(seconds * 10) / 10])
}

/** @param {[string, number]} row */
function lineOf([name, seconds]) {
  return `${seconds.toFixed(0).padStart(6)}  ${name}`
}
