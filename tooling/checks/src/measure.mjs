import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { parseSource } from './imports.mjs'
import { isProgram, problem } from './report.mjs'
import { measureCalls, measureLayers, measureSize } from './structure.mjs'
import { measureSurface } from './surface.mjs'
import { measureWords, wordLimits } from './words.mjs'
import { listFiles, workspaceRoot } from './workspace.mjs'

const measuredFile = /^packages\/[^/]+\/src\/(?!(?:.*\/)?(?:testing|contract|dist)\/).*(?<!\.test|\.generated|\.d)\.ts$/
const questionWord = /^(?:What|Whether|How|Why|Who|Whose|Which|Whatever|Whoever|Where)$/
const openingsLimit = 2
const lastValues = 'tooling/checks/trends.json'

/**
 * @typedef {{ file: string, source: ts.SourceFile }} SourceText
 * @typedef {import('./structure.mjs').Measured} Measured
 * @typedef {import('./structure.mjs').LayerRow} Rule A value above its limit is a problem, and `remedy` is its
 *   solution.
 * @typedef {import('./words.mjs').WordGroup} WordGroup
 */

/**
 * Measures the values with a limit, except words: the openings of doc comments, and imports against the layers.
 * @param {string} root
 * @returns {(Rule & { remedy: string })[]}
 */
export function measureRules(root) {
  const openings = {
    title: 'doc comments that open with a question word, in percent',
    limit: openingsLimit,
    remedy: 'start with a verb in the third person ("Returns…") or with the noun',
    ...measureOpenings(readSources(root)),
  }
  const layers = measureLayers(root).map((row) => ({ ...row, remedy: 'an import must point to a lower layer' }))
  return [openings, ...layers]
}

/**
 * Measures sums over the repository. They have no limit: `pnpm measure` prints them beside their last values.
 * @param {string} root
 * @returns {Measured[]}
 */
export function measureTrends(root) {
  return [...measureSize(root), measureDuplicateNames(readSources(root))]
}

/**
 * Reports the rules and words above their limits, over all packages.
 * @param {string} root
 * @returns {string[]}
 */
export function checkMeasures(root) {
  return [...ruleProblems(measureRules(root)), ...wordProblems(measureWords(root).all)]
}

/** @param {string} root */
function readSources(root) {
  return listFiles(root)
    .filter((file) => measuredFile.test(file))
    .map((file) => ({ file, source: parseSource(join(root, file)) }))
}

/** @param {readonly (Rule & { remedy: string })[]} rules */
function ruleProblems(rules) {
  return rules
    .filter(({ value, limit }) => value > limit)
    .map(({ title, value, limit, remedy }) => problem(`${title}: ${value}, at most ${limit}`, remedy))
}

/** @param {WordGroup} group */
function wordProblems({ results }) {
  return results
    .filter(({ row, value }) => value > row.limit)
    .map(({ row, value }) =>
      problem(
        `${row.title}: ${value} ${unitOf(row)}, at most ${row.limit}`,
        `${row.remedy}; pnpm measure --list packages/NAME prints the places`,
      ),
    )
}

/** @param {import('./words.mjs').WordRow} row */
function unitOf({ per }) {
  return per === 'words' ? 'in 10,000 words' : '% of the sentences'
}

/** @param {readonly SourceText[]} files */
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

/** @param {readonly WordGroup[]} groups */
function printWords(groups) {
  const width = Math.max(...groups.map(({ name }) => name.length), 'at most'.length)
  for (const [index, { title, per }] of wordLimits.entries()) {
    console.log(`${index + 1}: ${title}, ${per === 'words' ? 'in 10,000 words' : 'in percent'}`)
  }
  /** @param {readonly unknown[]} cells */
  const columns = (cells) => cells.map((cell) => String(cell).padStart(8)).join('')
  console.log(
    `${''.padEnd(width)}${columns(['words', ...wordLimits.keys()].map((cell) => (Number.isInteger(cell) ? Number(cell) + 1 : cell)))}`,
  )
  for (const { name, words, results } of groups) {
    const values = results.map(({ row, value }) => (value > row.limit ? `! ${value}` : value))
    console.log(`${name.padEnd(width)}${columns([words, ...values])}`)
  }
  console.log(`${'at most'.padEnd(width)}${columns(['', ...wordLimits.map(({ limit }) => limit)])}`)
}

/** @param {readonly Measured[]} measured */
function printTrends(measured) {
  const path = join(workspaceRoot, lastValues)
  /** @type {Record<string, number>} */
  const last = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
  for (const { title, value } of measured) console.log(`${title}: ${value} (last: ${last[title] ?? 'none'})`)
}

/** @param {readonly { title: string, details: readonly string[] }[]} rows */
function printPlaces(rows) {
  for (const { title, details } of rows) console.log([title, ...details].join('\n  '))
}

/**
 * Prints the places of the words in the files whose path begins with a folder.
 * @param {string} folder
 */
function listWords(folder) {
  const { all, documents, others } = measureWords(workspaceRoot)
  const results = [...all.results, ...documents.results, ...others.results]
  printPlaces(
    results.map(({ row, details }) => ({
      title: row.title,
      details: details.filter((detail) => detail.startsWith(folder)),
    })),
  )
}

/**
 * @param {readonly string[]} flags `--list` also prints the counted places, and `--list packages/client` prints only
 *   the words of one folder. `--rules` omits the trends, which take most of the time. `--write` stores their values for
 *   the next run.
 */
function main(flags) {
  const folder = flags[flags.indexOf('--list') + 1]
  if (flags.includes('--list') && folder !== undefined) return listWords(folder)
  const [rules, words] = [measureRules(workspaceRoot), measureWords(workspaceRoot)]
  const measures = flags.includes('--rules') ? [] : [measureTrends, measureCalls, measureSurface]
  const trends = measures.flatMap((measure) => measure(workspaceRoot))
  for (const { title, value, limit } of rules) console.log(`${title}: ${value} (at most ${limit})`)
  printTrends(trends)
  printWords([...words.packages, words.all, words.documents, words.others])
  if (flags.includes('--list')) {
    printPlaces([...rules, ...trends, ...words.all.results.map(({ row, details }) => ({ title: row.title, details }))])
  }
  if (flags.includes('--write')) {
    const values = Object.fromEntries(trends.map(({ title, value }) => [title, value]))
    writeFileSync(join(workspaceRoot, lastValues), `${JSON.stringify(values, null, 2)}\n`)
  }
  for (const found of [...ruleProblems(rules), ...wordProblems(words.all)]) {
    console.error(found)
    process.exitCode = 1
  }
}

if (isProgram(import.meta.url)) main(process.argv.slice(2))
