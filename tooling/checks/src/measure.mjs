import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { parseSource } from './imports.mjs'
import { isProgram } from './report.mjs'
import { measureCalls, measureSize } from './structure.mjs'
import { measureSurface } from './surface.mjs'
import { listFiles, workspaceRoot } from './workspace.mjs'

const measuredFile = /^packages\/[^/]+\/src\/(?!(?:.*\/)?(?:testing|contract|dist)\/).*(?<!\.test|\.generated|\.d)\.ts$/
const lastValues = 'tooling/checks/trends.json'

/**
 * @typedef {{ file: string, source: ts.SourceFile }} SourceText
 * @typedef {import('./structure.mjs').Measured} Measured
 */

/**
 * Measures sums over the repository. They have no limit: `pnpm measure` prints them beside their last values.
 * @param {string} root
 * @returns {Measured[]}
 */
export function measureTrends(root) {
  return [...measureSize(root), measureDuplicateNames(readSources(root))]
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
  const rows = Object.entries(stages).map(([name, value]) => ({
    title: `seconds of .ci/run: ${name}`,
    value,
    details: [],
  }))
  return [{ title: 'seconds of .ci/run', value: seconds, details: [] }, ...rows]
}

/** @param {string} root */
function readSources(root) {
  return listFiles(root)
    .filter((file) => measuredFile.test(file))
    .map((file) => ({ file, source: parseSource(join(root, file)) }))
}

/**
 * @param {readonly SourceText[]} files
 * @returns {Measured}
 */
function measureDuplicateNames(files) {
  /** @type {Map<string, Set<string>>} */
  const filesByName = new Map()
  for (const { file, source } of files) {
    for (const name of functionNames(source)) filesByName.set(name, (filesByName.get(name) ?? new Set()).add(file))
  }
  const shared = [...filesByName].filter(([, places]) => places.size > 1)
  const details = shared
    .toSorted(([, left], [, right]) => right.size - left.size)
    .map(([name, places]) => `${name}: ${[...places].join(', ')}`)
  return { title: 'names of functions defined in more than one file', value: shared.length, details }
}

/**
 * Lists the named functions of a file: declarations at any depth, and functions as constants of the module.
 * @param {ts.SourceFile} source
 * @returns {string[]}
 */
function functionNames(source) {
  /** @type {string[]} */
  const names = []
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isFunctionDeclaration(node) && node.body !== undefined && node.name) names.push(node.name.text)
    if (isFunctionConstant(node)) names.push(node.name.getText(source))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return names
}

/**
 * @param {ts.Node} node
 * @returns {node is ts.VariableDeclaration}
 */
function isFunctionConstant(node) {
  if (!ts.isVariableDeclaration(node) || !ts.isIdentifier(node.name) || node.initializer === undefined) return false
  const isFunction = ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer)
  return isFunction && ts.isSourceFile(node.parent.parent.parent)
}

/**
 * @param {readonly Measured[]} measured
 * @param {Readonly<Record<string, number>>} last
 */
function printTrends(measured, last) {
  for (const { title, value } of measured) console.log(`${title}: ${value} (last: ${last[title] ?? 'none'})`)
}

/** @returns {Record<string, number>} */
function readLast() {
  const path = join(workspaceRoot, lastValues)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
}

/**
 * @param {readonly string[]} flags `--list` also prints the counted places. `--write` stores the values for the next
 *   run, and keeps the times of the last one if there is no `.ci/run` to read them from.
 */
function main(flags) {
  const last = readLast()
  const run = measureRun(workspaceRoot)
  const trends = [...[measureTrends, measureCalls, measureSurface].flatMap((measure) => measure(workspaceRoot)), ...run]
  printTrends(trends, last)
  if (flags.includes('--list')) {
    for (const { title, details } of trends) console.log([title, ...details].join('\n  '))
  }
  if (flags.includes('--write')) {
    const times = Object.entries(last).filter(([title]) => run.length === 0 && title.startsWith('seconds of .ci/run'))
    const values = Object.fromEntries([...trends.map(({ title, value }) => [title, value]), ...times])
    writeFileSync(join(workspaceRoot, lastValues), `${JSON.stringify(values, null, 2)}\n`)
  }
}

if (isProgram(import.meta.url)) main(process.argv.slice(2))
