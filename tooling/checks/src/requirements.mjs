import { existsSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { parseSource } from './imports.mjs'
import { isProgram, problem } from './report.mjs'
import { checkSeeds } from './seeds.mjs'
import { readTable } from './table.mjs'
import { listFiles, workspaceRoot } from './workspace.mjs'

const table = 'tooling/spec/requirements.tsv'
const untestable = 'tooling/checks/untestable.tsv'

/** The pages of which every rule for a server or a client requires a test, or a reason why no test can exist. */
const completePages = [
  'basic/index',
  'basic/versioning',
  'basic/patterns/',
  'basic/transports/',
  'basic/authorization/',
  'server/discover',
  'design/auth',
  'extensions/apps',
  'extensions/auth/',
  'extensions/skills',
  'rfc6750',
  'rfc7523',
  'rfc7662',
  'rfc8252',
  'rfc8705',
  'rfc8707',
  'rfc9126',
  'rfc9449',
  'rfc9728',
  '2025-03-26/',
  '2025-06-18/',
  '2025-11-25/',
  '2026-07-28/',
  'seeds/',
]
/** Roles that no package has: intermediaries and authorization servers. */
const foreignRoles = ['intermediary', 'as']
const citation = /\[([A-Z]{3}-\d{3}(?:[ ,]+[A-Z]{3}-\d{3})*)\]/g

/**
 * @typedef {{ id: string, page: string, role: string, level: string, text: string }} Requirement
 * @typedef {{ page: string, all: number, proved: number, excused: number }} Page
 */

/**
 * Reads the protocol's rules in the order of the table.
 * @param {string} root
 * @returns {Requirement[]}
 */
export function readRequirements(root) {
  if (!existsSync(join(root, table)))
    throw new Error(`${table} does not exist. It must list the protocol's rules by id.`)
  const { rows } = readTable(join(root, table))
  return rows.map(([id = '', page = '', role = '', level = '', text = '']) => ({ id, page, role, level, text }))
}

/**
 * Reads the rules that no test can prove, with the reasons.
 * @param {string} root
 * @returns {Map<string, string>}
 */
export function readUntestable(root) {
  const { rows } = readTable(join(root, untestable))
  return new Map(rows.map(([id = '', reason = '']) => [id, reason]))
}

/**
 * Returns the ids that test titles cite, each with the places. Comments do not count.
 * @param {string} root
 * @returns {Map<string, string[]>}
 */
export function readCitations(root) {
  /** @type {Map<string, string[]>} */
  const citations = new Map()
  // The tests of the checks contain sources with ids, but do not test the protocol.
  const files = listFiles(root).filter((path) => path.endsWith('.test.ts') && !path.startsWith('tooling/checks/'))
  for (const file of files) {
    const source = parseSource(join(root, file))
    /** @param {ts.Node} node */
    const visit = (node) => {
      for (const id of citedIn(node)) {
        const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1
        citations.set(id, [...(citations.get(id) ?? []), `${file}:${line}`])
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  return citations
}

/**
 * @param {ts.Node} node
 * @returns {string[]}
 */
function citedIn(node) {
  const parts = ts.isTemplateExpression(node)
    ? [node.head, ...node.templateSpans.map(({ literal }) => literal)]
    : [node]
  const texts = parts.flatMap((part) =>
    ts.isStringLiteralLike(part) || ts.isTemplateHead(part) || ts.isTemplateMiddleOrTemplateTail(part)
      ? [part.text]
      : [],
  )
  if (ts.isTemplateMiddleOrTemplateTail(node) || ts.isTemplateHead(node)) return []
  return texts.flatMap((text) => [...text.matchAll(citation)].flatMap(([, ids = '']) => ids.split(/[ ,]+/)))
}

/**
 * Reports an id that no rule has, a rule of a complete page without a test or a reason, and an unnecessary reason. On
 * other pages a rule without a test is only counted.
 * @param {string} root
 * @returns {string[]}
 */
export function checkRequirements(root) {
  const requirements = readRequirements(root)
  const citations = readCitations(root)
  const reasons = readUntestable(root)
  const known = new Set(requirements.map(({ id }) => id))
  const unknown = [...citations]
    .filter(([id]) => !known.has(id))
    .map(([id, places]) => problem(`${places.join(', ')} cites ${id}`, `${table} has no such id: correct it`))
  const missing = requirements
    .filter(
      ({ id, page, role }) =>
        isComplete(page) && !foreignRoles.includes(role) && !citations.has(id) && !reasons.has(id),
    )
    .map(({ id, page, text }) =>
      problem(
        `no test cites ${id} of ${page}: ${text}`,
        `cite it in the title of the test that proves it, or give the reason in ${untestable}`,
      ),
    )
  const proved = new Set([...citations.keys(), ...reasons.keys()].filter((id) => known.has(id)))
  return [...unknown, ...missing, ...checkReasons({ known, citations, reasons }), ...checkSeeds(root, proved)]
}

/**
 * @param {{ known: ReadonlySet<string>, citations: ReadonlyMap<string, string[]>, reasons: ReadonlyMap<string, string>
 *   }} read
 * @returns {string[]}
 */
function checkReasons({ known, citations, reasons }) {
  return [...reasons].flatMap(([id, reason]) => {
    const places = citations.get(id)
    if (!known.has(id)) return [problem(`${untestable} lists ${id}`, `${table} has no such id: remove the line`)]
    if (places !== undefined) {
      return [
        problem(`${untestable} lists ${id}, which ${places.join(', ')} cites`, 'remove the line: there is a test'),
      ]
    }
    return reason === '' ? [problem(`${untestable} lists ${id} without a reason`, 'write why no test can exist')] : []
  })
}

/** @param {string} page */
function isComplete(page) {
  return completePages.some((name) => (name.endsWith('/') ? page.startsWith(name) : page === name))
}

/**
 * Counts the rules of each page, those with a test, and those that no test can prove.
 * @param {string} root
 * @returns {Page[]}
 */
export function countPages(root) {
  const citations = readCitations(root)
  const reasons = readUntestable(root)
  /** @type {Map<string, Page>} */
  const pages = new Map()
  for (const { id, page } of readRequirements(root)) {
    const { all, proved, excused } = pages.get(page) ?? { all: 0, proved: 0, excused: 0 }
    const isProved = Number(citations.has(id))
    pages.set(page, { page, all: all + 1, proved: proved + isProved, excused: excused + Number(reasons.has(id)) })
  }
  return [...pages.values()]
}

/** @param {readonly Page[]} pages */
function printPages(pages) {
  /** @param {'all' | 'proved' | 'excused'} name */
  const sum = (name) => pages.reduce((total, row) => total + row[name], 0)
  const total = { page: 'all pages', all: sum('all'), proved: sum('proved'), excused: sum('excused') }
  const width = Math.max(...pages.map(({ page }) => page.length), total.page.length)
  for (const { page, all, proved, excused } of [...pages, total]) {
    const share = `${Math.round((proved / all) * 100)} %`.padStart(6)
    const counts = `${String(proved).padStart(4)} of ${String(all).padStart(4)} have a test ${share}`
    console.log(`${page.padEnd(width)}  ${counts}${excused === 0 ? '' : `, ${excused} have a reason`}`)
  }
}

/**
 * @param {string} root
 * @param {string} page The beginning of the pages' names. All pages if it is empty.
 */
function printMissing(root, page) {
  const [citations, reasons] = [readCitations(root), readUntestable(root)]
  for (const { id, page: own, role, level, text } of readRequirements(root)) {
    if (!own.startsWith(page) || citations.has(id) || reasons.has(id)) continue
    console.log(`${id}  ${own}  ${role}  ${level}  ${text}`)
  }
}

/** @param {readonly string[]} flags */
function main(flags) {
  const missing = flags.indexOf('--missing')
  if (missing !== -1) printMissing(workspaceRoot, flags[missing + 1] ?? '')
  else if (!flags.includes('--quiet')) printPages(countPages(workspaceRoot))
  const problems = checkRequirements(workspaceRoot)
  for (const found of problems) console.error(found)
  if (problems.length > 0) process.exitCode = 1
}

if (isProgram(import.meta.url)) main(process.argv.slice(2))
