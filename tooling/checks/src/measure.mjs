import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isProgram } from './report.mjs'
import { listFiles, shippedSource, workspaceRoot } from './workspace.mjs'

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

/** @typedef {{ title: string, value: number }} Measured */

/**
 * Measures sums over the repository. They have no limit: `pnpm measure` prints them beside their last values.
 * @param {string} root
 * @returns {Measured[]}
 */
export function measureTrends(root) {
  const files = listFiles(root)
  const shipped = files.filter((file) => shippedSource.test(file))
  const lengths = shipped.map((file) => codeLines(readFileSync(join(root, file), 'utf8')))
  return [
    ...measureParts(root, files),
    {
      title: `files of at most ${smallFileLines} lines of code`,
      value: lengths.filter((lines) => lines <= smallFileLines).length,
    },
    { title: 'lines of code in packages', value: lengths.reduce((sum, lines) => sum + lines, 0) },
  ]
}

/** @param {string} root @param {readonly string[]} files @returns {Measured[]} */
function measureParts(root, files) {
  const partOf = (/** @type {string} */ file) => parts.find(([, pattern]) => pattern.test(file))?.[0]
  return parts.slice(1).map(([part]) => {
    const texts = files.filter((file) => partOf(file) === part).map((file) => readFileSync(join(root, file), 'utf8'))
    const value = texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0)
    return { title: `lines: ${part}`, value }
  })
}

/** @param {string} text */
function codeLines(text) {
  return text
    .replaceAll(comment, '')
    .split('\n')
    .filter((line) => line.trim() !== '').length
}

/**
 * Returns the seconds of the last `.ci/run` of this folder by stage, or nothing if there was none.
 * @param {string} root
 * @returns {Measured[]}
 */
export function measureRun(root) {
  const path = join(root, '.results/times.json')
  if (!existsSync(path)) return []
  /** @type {import('../../run/times.mjs').Times} */
  const { scope, seconds, stages } = JSON.parse(readFileSync(path, 'utf8'))
  if (scope !== 'change' || Object.keys(stages).length === 1) return []
  const rows = Object.entries(stages).map(([name, value]) => ({ title: `seconds of .ci/run: ${name}`, value }))
  return [{ title: 'seconds of .ci/run', value: seconds }, ...rows]
}

/**
 * @param {readonly string[]} flags `--write` stores the values for the next run, and keeps the times of the last one if
 *   there is no `.ci/run` to read them from.
 */
function main(flags) {
  const path = join(workspaceRoot, lastValues)
  /** @type {Record<string, number>} */
  const last = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
  const run = measureRun(workspaceRoot)
  const trends = [...measureTrends(workspaceRoot), ...run]
  for (const { title, value } of trends) console.log(`${title}: ${value} (last: ${last[title] ?? 'none'})`)
  if (flags.includes('--write')) {
    const times = Object.entries(last).filter(([title]) => run.length === 0 && title.startsWith('seconds of .ci/run'))
    const values = Object.fromEntries([...trends.map(({ title, value }) => [title, value]), ...times])
    writeFileSync(path, `${JSON.stringify(values, null, 2)}\n`)
  }
}

if (isProgram(import.meta.url)) main(process.argv.slice(2))
