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

/** @param {readonly string[]} flags `--write` stores the values for the next run. */
function main(flags) {
  const last = JSON.parse(readText(workspaceRoot, lastValues) || '{}')
  const trends = measureTrends(workspaceRoot)
  for (const [title, value] of Object.entries(trends)) {
    console.log(`${title}: ${value} (last: ${last[title] ?? 'none'})`)
  }
  if (flags.includes('--write')) {
    writeFileSync(join(workspaceRoot, lastValues), `${JSON.stringify(trends, null, 2)}\n`)
  }
}

if (isProgram(import.meta.url)) main(process.argv.slice(2))
