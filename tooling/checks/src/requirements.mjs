import { join } from 'node:path'
import ts from 'typescript'
import { isProgram, problem } from './report.mjs'
import { forEachNode, lineOf, parseSource } from './syntax.mjs'
import { listFiles, readText, workspaceRoot } from './workspace.mjs'

const table = 'tooling/spec/requirements.tsv'

/** Roles that no package has, each with the reason why its rules have no test. */
const foreignRoles = new Map([
  ['as', 'no package is an authorization server'],
  ['host', 'the program around a client shows, stores and approves'],
  ['author', 'the author of a server, a page or a transport decides it'],
])
const citation = /\[([A-Z]{3}-\d{3}(?:[ ,]+[A-Z]{3}-\d{3})*)\]/g
const mentioned = /\b[A-Z]{3}-\d{3}\b/g
const seeds = /^docs\/seeds\/.*\.md$/

/**
 * @typedef {{ id: string, page: string, role: string, level: string, text: string, reason: string }} Requirement
 *   `reason` says why no test can prove it.
 * @typedef {{ page: string, all: number, proved: number, excused: number }} Page
 */

/**
 * Reads the protocol's rules in the order of the table.
 * @param {string} root
 * @returns {Requirement[]}
 */
export function readRequirements(root) {
  const [, ...lines] = readText(root, table).trimEnd().split('\n')
  return lines.map((line) => {
    const [id = '', page = '', role = '', level = '', text = '', reason = ''] = line.split('\t')
    return { id, page, role, level, text, reason: reason || (foreignRoles.get(role) ?? '') }
  })
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
    if (source.text.search(citation) === -1) continue
    forEachNode(source, (node) => {
      for (const id of citedIn(node)) citations.set(id, [...(citations.get(id) ?? []), `${file}:${lineOf(node)}`])
    })
  }
  return citations
}

/** @param {ts.Node} node @returns {string[]} */
function citedIn(node) {
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
  return isText ? [...node.text.matchAll(citation)].flatMap(([, ids = '']) => ids.split(/[ ,]+/)) : []
}

/**
 * Reports an id that no rule has, a rule with neither a test nor a reason, a reason for a rule with a test, and a rule
 * that the pages of the seeds name without a proof.
 * @param {string} root
 * @returns {string[]}
 */
export function checkRequirements(root) {
  const requirements = readRequirements(root)
  const citations = readCitations(root)
  const reasons = new Map(requirements.map(({ id, reason }) => [id, reason]))
  const unknown = [...citations]
    .filter(([id]) => !reasons.has(id))
    .map(([id, places]) => problem(`${places.join(', ')} cites ${id}`, `${table} has no such id: correct it`))
  const rows = requirements.flatMap(({ id, page, text, reason }) => {
    const places = citations.get(id)
    if (places === undefined && reason === '') {
      const remedy = `cite it in the title of the test that proves it, or write the reason into the last column of ${table}`
      return [problem(`no test cites ${id} of ${page}: ${text}`, remedy)]
    }
    if (places === undefined || reason === '') return []
    return [
      problem(`${id} has a reason, and ${places.join(', ')} cites it`, `remove the reason, or its role, in ${table}`),
    ]
  })
  const named = listFiles(root)
    .filter((file) => seeds.test(file))
    .flatMap((file) => (readText(root, file).match(mentioned) ?? []).map((id) => ({ file, id })))
    .filter(({ id }) => !reasons.has(id))
    .map(({ file, id }) => problem(`${file} names ${id}`, `${table} has no such id: correct it`))
  return [...unknown, ...rows, ...named]
}

/**
 * Counts the rules of each page, those with a test, and those with a reason.
 * @param {string} root
 * @returns {Page[]}
 */
export function countPages(root) {
  const citations = readCitations(root)
  const requirements = readRequirements(root)
  return [...new Set(requirements.map(({ page }) => page))].map((page) => {
    const own = requirements.filter((rule) => rule.page === page)
    const open = own.filter(({ id }) => !citations.has(id))
    const excused = open.filter(({ reason }) => reason !== '').length
    return { page, all: own.length, proved: own.length - open.length, excused }
  })
}

/** @param {readonly Page[]} pages */
function printPages(pages) {
  /** @param {'all' | 'proved' | 'excused'} name */
  const sum = (name) => pages.reduce((total, row) => total + row[name], 0)
  const total = { page: 'all pages', all: sum('all'), proved: sum('proved'), excused: sum('excused') }
  for (const { page, all, proved, excused } of [...pages, total]) {
    console.log(`${page}: ${proved} of ${all} have a test${excused === 0 ? '' : `, ${excused} a reason`}`)
  }
}

/** @param {readonly string[]} flags `--missing` and the beginning of a page's name list its rules without a test. */
function main(flags) {
  const missing = flags.indexOf('--missing')
  const citations = readCitations(workspaceRoot)
  if (missing === -1) printPages(countPages(workspaceRoot))
  else {
    for (const { id, page, role, level, text, reason } of readRequirements(workspaceRoot)) {
      if (!page.startsWith(flags[missing + 1] ?? '') || citations.has(id)) continue
      console.log(`${id}  ${page}  ${role}  ${level}  ${text}${reason && `  (${reason})`}`)
    }
  }
}

if (isProgram(import.meta.url)) main(process.argv.slice(2))
