import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { parseSource } from './syntax.mjs'
import { problem, runCheck } from './report.mjs'
import { listFiles, shippedSource } from './workspace.mjs'

const listFile = 'tooling/checks/collections.tsv'
const programsOfOnePerson = /^packages\/(?:cli|testing)\//

/** The kinds of bounds in the column `bound` of the list. */
const bounds = ['author', 'call', 'constant', 'ledger', 'own']

/**
 * Reports each `Map` and `Set` of the packages that outlives the call of one function, and that neither its file bounds
 * nor a row explains. A file bounds it if it compares its size with a limit or uses the ledger.
 *
 * A collection outlives a call if it is created at the top of a module or as a member of a class or an object. It also
 * does if a closure that remains after the call uses it, or if it is added to another collection. A collection with
 * initial contents is a table, and does not count.
 * @param {string} root
 * @returns {string[]}
 */
export function checkCollections(root) {
  const found = new Set(findCollections(root))
  const listed = readList(root)
  const unlisted = [...found].filter((key) => !listed.some((row) => row.key === key))
  return [
    ...unlisted.map((key) =>
      problem(
        `${key} is a Map or a Set that outlives a call`,
        `compare its size with a limit, take entries from the ledger, or add a row with the reason to ${listFile}`,
      ),
    ),
    ...listed.flatMap(({ key, bound, reason }) => {
      if (!found.has(key)) return [problem(`${listFile} lists ${key}, which needs no row`, 'remove it')]
      if (bounds.includes(bound) && reason !== '') return []
      return [problem(`${listFile}: the row of ${key}`, `write one of ${bounds.join(', ')} as its bound, and a reason`)]
    }),
  ]
}

/** @param {string} root */
function readList(root) {
  if (!existsSync(join(root, listFile))) return []
  const [, ...lines] = readFileSync(join(root, listFile), 'utf8').trimEnd().split('\n')
  return lines.flatMap((line) => {
    const [file = '', names = '', bound = '', reason = ''] = line.split('\t')
    return names.split(' ').map((name) => ({ key: `${file} ${name}`, bound, reason }))
  })
}

/**
 * Returns the files and the names of the collections that need a row.
 * @param {string} root
 * @returns {string[]}
 */
export function findCollections(root) {
  return listFiles(root)
    .filter((file) => shippedSource.test(file) && !programsOfOnePerson.test(file))
    .flatMap((file) => {
      const source = parseSource(join(root, file))
      const names = collectionsIn(source).filter((name) => !isBounded(source, name))
      return names.map((name) => `${file} ${name}`)
    })
}

/** @param {ts.SourceFile} source @param {string} name */
function isBounded({ text }, name) {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
  const size = `(?<![\\w$])${name}\\.size`
  return /\bledger\b/i.test(code) || new RegExp(`${size}(?: \\+ \\w+)? [<>]=? (?!0)|[<>]=? [\\w.]*${size}`).test(code)
}

/**
 * Returns the names of the collections of a file that outlive a call.
 * @param {ts.SourceFile} source
 * @returns {string[]}
 */
function collectionsIn(source) {
  /** @type {Set<string>} */
  const names = new Set()
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isNewExpression(node) && /^(?:Map|Set)$/.test(node.expression.getText(source)) && !node.arguments?.length) {
      const name = longLivedNameOf(node)
      if (name !== undefined) names.add(name)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return [...names]
}

/**
 * Returns the name of a collection that outlives the function that creates it, or undefined.
 * @param {ts.Node} node
 * @returns {string | undefined}
 */
function longLivedNameOf(node) {
  const { parent } = node
  if (ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent)) return parent.name.getText()
  if (ts.isBinaryExpression(parent)) {
    // In `known ?? new Map()` the expression is what has the name.
    if (parent.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) return longLivedNameOf(parent)
    return ts.isPropertyAccessExpression(parent.left) ? parent.left.name.text : undefined
  }
  if (!ts.isVariableDeclaration(parent) || !ts.isIdentifier(parent.name)) return undefined
  const creator = ts.findAncestor(parent, ts.isFunctionLike)
  return creator === undefined || isUsedByRemainingFunction(creator, parent.name.text) ? parent.name.text : undefined
}

/**
 * Returns true if a closure inside a function uses the name. A callback such as the argument of `map` does not count.
 * @param {ts.Node} creator
 * @param {string} name
 * @returns {boolean}
 */
function isUsedByRemainingFunction(creator, name) {
  let isUsed = false
  /** @param {ts.Node} node @param {boolean} isInside */
  const visit = (node, isInside) => {
    if (ts.isIdentifier(node) && node.text === name && (isInside || isStored(node))) isUsed = true
    const remains = node !== creator && ts.isFunctionLike(node) && !ts.isCallExpression(node.parent)
    ts.forEachChild(node, (child) => visit(child, isInside || remains))
  }
  visit(creator, false)
  return isUsed
}

/**
 * Returns true if a name is added to another collection.
 * @param {ts.Node} node
 * @returns {boolean}
 */
function isStored({ parent }) {
  if (!ts.isCallExpression(parent) || !ts.isPropertyAccessExpression(parent.expression)) return false
  return ['add', 'push', 'set'].includes(parent.expression.name.text)
}

await runCheck(import.meta.url, checkCollections)
