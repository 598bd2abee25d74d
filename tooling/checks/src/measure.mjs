import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isProgram } from './report.mjs'
import { listFiles, readText, shippedSource, workspaceRoot } from './workspace.mjs'

const lastValues = 'tooling/checks/trends.json'
const smallFileLines = 20
const comment = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm

/**
 * The first pattern that a file matches is its part. Vendored and generated files are counted apart.
 * @type {readonly (readonly [part: string, pattern: RegExp])[]}
 */
const parts = [
  ['binary files', /\.(?:png|jpe?g|gif|ico|woff2?|gz|tgz|zip|wasm)$/],
  ['vendored', /^tooling\/spec\/(?!requirements\.tsv)/],
  ['generated', /^pnpm-lock\.yaml$|(?:^|\/)api\.md$|\.generated\.|^docs\/hosts\.json$/],
  ['tests', /\.test\.m?tsx?$|^(?:packages|apps|tooling)\/[^/]+\/test\//],
  ['packages', /^packages\//],
  ['apps', /^apps\//],
  ['tooling', /^tooling\//],
  ['docs', /^docs\//],
  ['other files', /./],
]

/**
 * Measures sums over the repository, by their titles. They have no limit: `pnpm measure` prints them beside their last
 * values.
 * @param {string} root
 * @returns {Record<string, number>}
 */
export function measureTrends(root) {
  const files = listFiles(root)
  const partOf = (/** @type {string} */ file) => parts.find(([, pattern]) => pattern.test(file))?.[0]
  const lines = parts.slice(1).map(([part]) => {
    const own = files.filter((file) => partOf(file) === part)
    return [`lines: ${part}`, own.reduce((sum, file) => sum + readText(root, file).split('\n').length - 1, 0)]
  })
  const shipped = files.filter((file) => shippedSource.test(file))
  const lengths = shipped.map(
    (file) =>
      readText(root, file)
        .replaceAll(comment, '')
        .match(/^.*\S.*$/gm)?.length ?? 0,
  )
  return {
    ...Object.fromEntries(lines),
    [`files of at most ${smallFileLines} lines of code`]: lengths.filter((length) => length <= smallFileLines).length,
    'lines of code in packages': lengths.reduce((sum, length) => sum + length, 0),
  }
}

/**
 * The seconds of the last `.ci/run` of this folder by stage, by their titles. Empty if there was none.
 * @param {string} root
 * @returns {Record<string, number>}
 */
export function measureRun(root) {
  /** @type {Partial<import('../../run/times.mjs').Times>} */
  const { scope, seconds = 0, stages = {} } = JSON.parse(readText(root, '.results/times.json') || '{}')
  const rows = Object.entries(stages).map(([stage, value]) => [`${runTitle}: ${stage}`, value])
  return scope === 'change' && rows.length > 1 ? { [runTitle]: seconds, ...Object.fromEntries(rows) } : {}
}

const runTitle = 'seconds of .ci/run'

/**
 * @param {readonly string[]} flags `--write` stores the values for the next run, and keeps the times of the last one if
 *   there is no `.ci/run` to read them from.
 */
function main(flags) {
  /** @type {Record<string, number>} */
  const last = JSON.parse(readText(workspaceRoot, lastValues) || '{}')
  const run = measureRun(workspaceRoot)
  const trends = { ...measureTrends(workspaceRoot), ...run }
  for (const [title, value] of Object.entries(trends)) {
    console.log(`${title}: ${value} (last: ${last[title] ?? 'none'})`)
  }
  if (flags.includes('--write')) {
    const times = Object.entries(last).filter(([title]) => title.startsWith(runTitle))
    const values = Object.keys(run).length > 0 ? trends : { ...trends, ...Object.fromEntries(times) }
    writeFileSync(join(workspaceRoot, lastValues), `${JSON.stringify(values, null, 2)}\n`)
  }
}

if (isProgram(import.meta.url)) main(process.argv.slice(2))
