import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { parseSource } from './imports.mjs'
import { isProgram, problem } from './report.mjs'
import { listFiles, workspaceRoot } from './workspace.mjs'

const table = 'tooling/spec/requirements.tsv'
const citation = /\[([A-Z]{3}-\d{3}(?:[ ,]+[A-Z]{3}-\d{3})*)\]/g

/**
 * @typedef {{ id: string, page: string, role: string, level: string, text: string }} Requirement
 * @typedef {{ page: string, all: number, proved: number }} Page
 */

/**
 * The protocol's rules in the order of the table.
 * @param {string} root
 * @returns {Requirement[]}
 */
export function readRequirements(root) {
  if (!existsSync(join(root, table))) throw new Error(`${table} is not there: it lists the protocol's rules by id`)
  const [, ...lines] = readFileSync(join(root, table), 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [id = '', page = '', role = '', level = '', text = ''] = line.split('\t')
    return { id, page, role, level, text }
  })
}

/**
 * The ids that test titles cite, each with the places. A comment cites nothing.
 * @param {string} root
 * @returns {Map<string, string[]>}
 */
export function readCitations(root) {
  /** @type {Map<string, string[]>} */
  const citations = new Map()
  // The checks' own tests hold sources with citations, and prove nothing about the protocol.
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
 * Fails on an id that no rule has; a rule without a test is counted, not refused.
 * @param {string} root
 * @returns {string[]}
 */
export function checkRequirements(root) {
  const known = new Set(readRequirements(root).map(({ id }) => id))
  return [...readCitations(root)]
    .filter(([id]) => !known.has(id))
    .map(([id, places]) => problem(`${places.join(', ')} cites ${id}`, `${table} has no such id: cite one that it has`))
}

/**
 * How many rules of each page a test proves.
 * @param {string} root
 * @returns {Page[]}
 */
export function countPages(root) {
  const citations = readCitations(root)
  /** @type {Map<string, Page>} */
  const pages = new Map()
  for (const { id, page } of readRequirements(root)) {
    const row = pages.get(page) ?? { page, all: 0, proved: 0 }
    pages.set(page, { page, all: row.all + 1, proved: row.proved + (citations.has(id) ? 1 : 0) })
  }
  return [...pages.values()]
}

/** @param {readonly Page[]} pages */
function printPages(pages) {
  const total = pages.reduce((sum, row) => ({ ...sum, all: sum.all + row.all, proved: sum.proved + row.proved }), {
    page: 'all pages',
    all: 0,
    proved: 0,
  })
  const width = Math.max(...pages.map(({ page }) => page.length), total.page.length)
  for (const { page, all, proved } of [...pages, total]) {
    const share = `${Math.round((proved / all) * 100)} %`.padStart(6)
    console.log(
      `${page.padEnd(width)}  ${String(proved).padStart(4)} of ${String(all).padStart(4)} have a test ${share}`,
    )
  }
}

/**
 * @param {string} root
 * @param {string} page A page, or the beginning of one; all when empty.
 */
function printMissing(root, page) {
  const citations = readCitations(root)
  for (const { id, page: own, role, level, text } of readRequirements(root)) {
    if (own.startsWith(page) && !citations.has(id)) console.log(`${id}  ${own}  ${role}  ${level}  ${text}`)
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
