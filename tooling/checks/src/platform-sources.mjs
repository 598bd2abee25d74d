import { join } from 'node:path'
import ts from 'typescript'
import { parseSource } from './imports.mjs'
import { problem, runCheck } from './report.mjs'
import { readTable } from './table.mjs'
import { listFiles } from './workspace.mjs'

/**
 * Finds every use of the platform's clock, timers and random functions in the packages. Each requires a row with the
 * reason why it does not come from `runtime`. Code that takes them from `runtime` can be tested and simulated.
 */

const listFile = 'tooling/checks/platform-sources.tsv'
const measuredFile = /^packages\/[^/]+\/src\/(?!(?:.*\/)?(?:testing|contract|dist)\/).*(?<!\.test|\.generated|\.d)\.ts$/

/** Functions that are members of an object of the platform. */
const members = new Set([
  'Date.now',
  'performance.now',
  'Math.random',
  'crypto.randomUUID',
  'crypto.getRandomValues',
  'globalThis.setImmediate',
  'globalThis.setTimeout',
])

/** Global functions, and functions imported from Node. `new Date()` without arguments is named `new Date`. */
const functions = new Set(['setTimeout', 'setInterval', 'setImmediate', 'randomUUID', 'randomBytes'])

/**
 * Compares the uses with the list of exceptions.
 * @param {string} root
 * @returns {string[]}
 */
export function checkPlatformSources(root) {
  const found = new Set(findPlatformSources(root).map(({ file, name }) => `${file} ${name}`))
  const listed = readList(root)
  const listedKeys = new Set(listed.map(({ file, name }) => `${file} ${name}`))
  return [
    ...[...found]
      .filter((key) => !listedKeys.has(key))
      .map((key) => problem(`${key} is used`, `take it from \`runtime\`, or add a row with the reason to ${listFile}`)),
    ...[...listedKeys]
      .filter((key) => !found.has(key))
      .map((key) => problem(`${listFile} lists ${key}, which does not exist`, 'remove the row')),
    ...listed
      .filter(({ reason }) => reason === '')
      .map(({ file, name }) => problem(`${listFile}: the row of ${file} ${name}`, 'add a reason')),
  ]
}

/** @param {string} root */
function readList(root) {
  const { rows } = readTable(join(root, listFile))
  return rows.map(([file = '', name = '', reason = '']) => ({ file, name, reason }))
}

/**
 * @param {string} root
 * @returns {{ file: string, name: string }[]}
 */
export function findPlatformSources(root) {
  return listFiles(root)
    .filter((file) => measuredFile.test(file))
    .flatMap((file) => sourcesIn(parseSource(join(root, file))).map((name) => ({ file, name })))
}

/**
 * Returns the names of the platform's functions that a file uses.
 * @param {ts.SourceFile} source
 * @returns {string[]}
 */
function sourcesIn(source) {
  /** @type {Set<string>} */
  const names = new Set()
  /** @param {ts.Node} node */
  const visit = (node) => {
    const name = nameOf(node, source)
    if (name !== undefined) names.add(name)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return [...names]
}

/**
 * @param {ts.Node} node
 * @param {ts.SourceFile} source
 * @returns {string | undefined}
 */
function nameOf(node, source) {
  if (ts.isPropertyAccessExpression(node)) {
    const name = node.getText(source)
    return members.has(name) ? name : undefined
  }
  if (ts.isNewExpression(node) && node.expression.getText(source) === 'Date' && !node.arguments?.length)
    return 'new Date'
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && functions.has(node.expression.text))
    return node.expression.text
  return undefined
}

await runCheck(import.meta.url, checkPlatformSources)
