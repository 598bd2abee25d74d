import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSource } from './imports.mjs'
import { boundary, proseOfPage, proseOfSource } from './texts.mjs'
import { listFiles } from './workspace.mjs'

/**
 * @typedef {import('./texts.mjs').Prose} Prose
 * @typedef {{ file: string, prose: Prose }} FileProse
 * @typedef {{ title: string, per: 'words' | 'sentences', limit: number, remedy: string }} WordRow
 *   The limit is inclusive: per 10,000 words, or percent of the sentences.
 * @typedef {{ row: WordRow, value: number, details: readonly string[] }} WordResult
 * @typedef {{ name: string, words: number, results: readonly WordResult[] }} WordGroup
 */

const measuredSource =
  /^packages\/[^/]+\/src\/(?!(?:.*\/)?(?:testing|contract|dist)\/).*(?<!\.test|\.generated|\.d)\.ts$/
const measuredPage = /^packages\/[^/]+\/README\.md$/
const documentPage = /^docs\/(?!reference\/).*\.md$|^(?:README|CONTRIBUTING|SECURITY)\.md$/
const otherSource = /^(?:apps|tooling)\/(?!(?:.*\/)?(?:dist|spec)\/).*(?<!\.test|\.generated|\.d)\.(?:ts|mjs)$/
const longSentence = 25

/** @type {readonly (WordRow & { pattern: RegExp })[]} */
const wordRows = [
  {
    title: 'whoever, nobody, somebody, whatever',
    per: 'words',
    limit: 4,
    remedy: 'name the thing: "a client that …", "no instance …", "the value"',
    pattern: /\b(?:(?:no|some|any|every)body|who(?:m|se|so)?ever|what(?:so)?ever)\b/gi,
  },
  {
    title: 'tells, told, hears, learns',
    per: 'words',
    limit: 2,
    remedy: 'write "notifies", "is notified", "receives", "returns true if"',
    pattern: /\b(?:tells?|told|telling|hears?|heard|hearing|learns?|learned|learnt|learning)\b/gi,
  },
  {
    title: 'goes on, comes back, stands, under way, away, gone',
    per: 'words',
    limit: 1.5,
    remedy: 'write "continues", "returns", "is", "runs", "is unreachable", "has ended"',
    pattern:
      /\b(?:go(?:es|ing|ne)?\s+on|went\s+on|com(?:e|es|ing)\s+back|came\s+back|stands?|stood|standing|under\s?way|(?:is|are|was|were|be|been|stays?)\s+away|(?:has|have|had|is|are|was|were|be)\s+gone)\b(?!\s+(?:\w+\s+)?by\b)/gi,
  },
  {
    title: 'semicolons',
    per: 'words',
    limit: 40,
    remedy: 'make two sentences of one',
    pattern: /;/g,
  },
]

/** @type {WordRow} */
const sentenceRow = {
  title: `sentences of more than ${longSentence} words`,
  per: 'sentences',
  limit: 3,
  remedy: 'one idea a sentence: divide it',
}

/**
 * The counted rows in the order of the results.
 * @type {readonly WordRow[]}
 */
export const wordLimits = [...wordRows, sentenceRow]

/**
 * Measures the words of each package, of all packages together, of the documents, and of applications and tools.
 * @param {string} root
 * @returns {{ all: WordGroup, packages: WordGroup[], documents: WordGroup, others: WordGroup }}
 */
export function measureWords(root) {
  const files = listFiles(root)
  const sources = files.filter((file) => measuredSource.test(file) || measuredPage.test(file))
  const texts = sources.flatMap((file) => readProse(root, file))
  const names = [...new Set(texts.map(({ file }) => packageOf(file)))].toSorted()
  const documents = files.filter((file) => documentPage.test(file)).flatMap((file) => readProse(root, file))
  const others = files.filter((file) => otherSource.test(file)).flatMap((file) => readProse(root, file))
  return {
    all: countGroup('all packages', texts),
    packages: names.map((name) =>
      countGroup(
        name,
        texts.filter(({ file }) => packageOf(file) === name),
      ),
    ),
    documents: countGroup('docs', documents),
    others: countGroup('apps, tooling', others),
  }
}

/** @param {string} file */
function packageOf(file) {
  return file.split('/').slice(0, 2).join('/')
}

/**
 * @param {string} root
 * @param {string} file
 * @returns {FileProse[]}
 */
function readProse(root, file) {
  const path = join(root, file)
  const texts = file.endsWith('.md') ? [proseOfPage(readFileSync(path, 'utf8'))] : proseOfSource(parseSource(path))
  return texts.map((prose) => ({ file, prose }))
}

/**
 * @param {string} name
 * @param {readonly FileProse[]} texts
 * @returns {WordGroup}
 */
function countGroup(name, texts) {
  const sentences = texts.flatMap(sentencesOf)
  const words = sentences.reduce((sum, { count }) => sum + count, 0)
  const counted = wordRows.map(({ pattern, ...row }) => {
    const details = texts.flatMap((text) => matchesOf(text, pattern))
    return { row, value: share(details.length, words, 10_000), details }
  })
  const long = sentences.filter(({ count }) => count > longSentence)
  const details = long.map(({ place, count, text }) => `${place} ${count} words: ${text}`)
  return {
    name,
    words,
    results: [...counted, { row: sentenceRow, value: share(long.length, sentences.length, 100), details }],
  }
}

/**
 * @param {number} count
 * @param {number} of
 * @param {number} unit
 */
function share(count, of, unit) {
  return of === 0 ? 0 : Math.round((10 * unit * count) / of) / 10
}

/**
 * @param {FileProse} text
 * @param {RegExp} pattern
 */
function matchesOf({ file, prose }, pattern) {
  return [...prose.text.matchAll(pattern)].map(({ index, 0: found }) => {
    const around = prose.text.slice(Math.max(0, index - 40), index + found.length + 30)
    return `${file}:${lineOf(prose, index)} ${found}: …${plain(around)}…`
  })
}

/**
 * Divides a text into sentences with their number of words.
 * @param {FileProse} text
 */
function sentencesOf({ file, prose }) {
  const found = []
  const ends = new RegExp(`[.!?]['")\\]*]*(?=\\s|$)|\\n[ \\t]*\\n|${boundary}+|$`, 'g')
  let start = 0
  for (const { index, 0: end } of prose.text.matchAll(ends)) {
    const text = prose.text.slice(start, index)
    const count = wordsIn(text)
    const opens = start + (text.length - text.trimStart().length)
    if (count > 0) found.push({ count, place: `${file}:${lineOf(prose, opens)}`, text: plain(text) })
    start = index + end.length
  }
  return found
}

/** @param {string} text */
function wordsIn(text) {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}'’_./:@-]*/gu)?.length ?? 0
}

/**
 * @param {Prose} prose
 * @param {number} index
 */
function lineOf({ line, text }, index) {
  return line + text.slice(0, index).split('\n').length - 1
}

/** @param {string} text */
function plain(text) {
  return text.replaceAll(boundary, ' ').replaceAll(/\s+/g, ' ').trim()
}
