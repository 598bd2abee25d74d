import { join } from 'node:path'
import ts from 'typescript'
import { parseSource } from './imports.mjs'
import { isProgram, problem } from './report.mjs'
import { measureCalls, measureStructure } from './structure.mjs'
import { listFiles, workspaceRoot } from './workspace.mjs'

/** Makes a value above its limit a failure. */
const enforced = true

const measuredFile = /^packages\/[^/]+\/src\/(?!(?:.*\/)?(?:testing|contract|dist)\/).*(?<!\.test|\.generated|\.d)\.ts$/
const questionWord = /^(?:What|Whether|How|Why|Who|Whose|Which|Whatever|Whoever|Where)$/

/**
 * @typedef {{ file: string, source: ts.SourceFile }} SourceText
 * @typedef {{ value: number, details: readonly string[] }} Measurement `details` lists the places that the value
 * counts.
 * @typedef {{
 *   title: string, unit: string, limit: number, remedy: string, measure: (files: readonly SourceText[]) => Measurement
 * }} Row The limit is exclusive: a value must be below it.
 * @typedef {{ row: Row, value: number, details: readonly string[] }} Result
 */

/** @type {readonly Row[]} */
const rows = [
  {
    title: 'doc comments that open with a question word',
    unit: '%',
    limit: 2,
    remedy: 'start with a verb in the third person ("Returns…") or with the noun',
    measure: measureOpenings,
  },
  {
    title: 'names of functions defined in more than one file',
    unit: '',
    limit: 45,
    remedy: 'name each function for its own object, or define it once',
    measure: measureDuplicateNames,
  },
]

/**
 * Measures the sources of the packages; tests and generated files are left out.
 * @param {string} root
 * @returns {Result[]}
 */
export function measureTree(root) {
  const files = listFiles(root)
    .filter((file) => measuredFile.test(file))
    .map((file) => ({ file, source: parseSource(join(root, file)) }))
  return rows.map((row) => ({ row, ...row.measure(files) }))
}

/**
 * Reports every row whose value is not below its limit.
 * @param {string} root
 * @returns {string[]}
 */
export function checkMeasures(root) {
  return measureTree(root)
    .filter(({ row, value }) => value >= row.limit)
    .map(({ row, value }) =>
      problem(`${row.title}: ${shownValue(value, row)}, the limit is below ${shownValue(row.limit, row)}`, row.remedy),
    )
}

/**
 * @param {readonly SourceText[]} files
 * @returns {Measurement}
 */
function measureOpenings(files) {
  let all = 0
  const details = []
  for (const { file, source } of files) {
    for (const match of source.text.matchAll(/\/\*\*\s*\n?\s*\*?\s*([A-Z][a-z']*)/g)) {
      all += 1
      const [, word = ''] = match
      if (!questionWord.test(word)) continue
      details.push(`${file}:${source.getLineAndCharacterOfPosition(match.index).line + 1} opens with ${word}`)
    }
  }
  return { value: all === 0 ? 0 : Math.round((1000 * details.length) / all) / 10, details }
}

/**
 * @param {readonly SourceText[]} files
 * @returns {Measurement}
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
  return { value: shared.length, details }
}

/**
 * Lists the named functions of a file: declarations at any depth, and constants of the module that hold a function.
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
  const holdsFunction = ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer)
  return holdsFunction && ts.isSourceFile(node.parent.parent.parent)
}

/**
 * @param {number} value
 * @param {Row} row
 */
function shownValue(value, { unit }) {
  return unit === '' ? String(value) : `${value} ${unit}`
}

/** @param {readonly string[]} flags `--list` prints the counted places too. */
function main(flags) {
  for (const { row, value, details } of measureTree(workspaceRoot)) {
    const state = value < row.limit ? 'ok' : 'above the limit'
    console.log(`${row.title}: ${shownValue(value, row)} (below ${shownValue(row.limit, row)}: ${state})`)
    if (flags.includes('--list')) for (const detail of details) console.log(`  ${detail}`)
  }
  printStructure(flags)
  if (!enforced) return
  for (const found of checkMeasures(workspaceRoot)) {
    console.error(found)
    process.exitCode = 1
  }
}

/** @param {readonly string[]} flags */
function printStructure(flags) {
  for (const { title, value, limit, details } of [...measureStructure(workspaceRoot), ...measureCalls(workspaceRoot)]) {
    console.log(`${title}: ${value} (at most ${limit}: ${value <= limit ? 'ok' : 'above the limit'})`)
    if (flags.includes('--list')) for (const detail of details) console.log(`  ${detail}`)
    if (value > limit) process.exitCode = 1
  }
}

if (isProgram(import.meta.url)) main(process.argv.slice(2))
