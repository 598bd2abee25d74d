import { join } from 'node:path'
import ts from 'typescript'
import { parseSource } from './imports.mjs'
import { problem, runCheck } from './report.mjs'
import { readTable } from './table.mjs'
import { listFiles } from './workspace.mjs'

/**
 * Finds every `Map` and `Set` of the packages that outlives the call of one function. Each requires a row with the
 * reason why no peer can make it grow without a bound.
 *
 * A collection outlives a call if it is created at the top of a module or as a member of a class or an object. It also
 * does if a closure that remains after the call uses it, or if it is added to another collection. A collection with
 * initial contents is a table, and does not count.
 */

const listFile = 'tooling/checks/collections.tsv'
const measuredFile = /^packages\/[^/]+\/src\/(?!(?:.*\/)?(?:testing|contract|dist)\/).*(?<!\.test|\.generated|\.d)\.ts$/
const collections = new Set(['Map', 'Set'])

/** The kinds of bounds in the column `bound` of the list. */
const bounds = new Set(['author', 'call', 'constant', 'ledger', 'own'])

/**
 * @typedef {{ file: string, name: string }} Collection
 * @typedef {{ file: string, name: string, bound: string, reason: string }} ListedCollection
 */

/**
 * Compares the list with the source.
 * @param {string} root
 * @returns {string[]}
 */
export function checkCollections(root) {
  const found = findCollections(root)
  const listed = readList(root)
  const keysOf = (/** @type {readonly Collection[]} */ all) => new Set(all.map(({ file, name }) => `${file} ${name}`))
  const [foundKeys, listedKeys] = [keysOf(found), keysOf(listed)]
  return [
    ...[...foundKeys]
      .filter((key) => !listedKeys.has(key))
      .map((key) =>
        problem(
          `${key} is a Map or a Set that outlives a call`,
          `bound the entries that peers add, with the ledger if possible, and add a row to ${listFile}`,
        ),
      ),
    ...[...listedKeys]
      .filter((key) => !foundKeys.has(key))
      .map((key) => problem(`${listFile} lists ${key}, which does not exist`, 'remove the row')),
    ...listed
      .filter(({ bound, reason }) => !bounds.has(bound) || reason === '')
      .map(({ file, name }) =>
        problem(
          `${listFile}: the row of ${file} ${name}`,
          `write one of ${[...bounds].join(', ')} as its bound, and a reason`,
        ),
      ),
  ]
}

/**
 * @param {string} root
 * @returns {ListedCollection[]}
 */
export function readList(root) {
  const { rows } = readTable(join(root, listFile))
  return rows.map(([file = '', name = '', bound = '', reason = '']) => ({ file, name, bound, reason }))
}

/**
 * @param {string} root
 * @returns {Collection[]}
 */
export function findCollections(root) {
  return listFiles(root)
    .filter((file) => measuredFile.test(file))
    .flatMap((file) => collectionsIn(parseSource(join(root, file))).map((name) => ({ file, name })))
}

/**
 * Returns the names of the collections of a file that outlive a call.
 * @param {ts.SourceFile} source
 * @returns {string[]}
 */
function collectionsIn(source) {
  /** @type {string[]} */
  const names = []
  /** @param {ts.Node} node */
  const visit = (node) => {
    const name = isEmptyCollection(node) ? longLivedNameOf(node, source) : undefined
    if (name !== undefined) names.push(name)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return [...new Set(names)]
}

/**
 * @param {ts.Node} node
 * @returns {node is ts.NewExpression}
 */
function isEmptyCollection(node) {
  if (!ts.isNewExpression(node) || !ts.isIdentifier(node.expression)) return false
  return collections.has(node.expression.text) && (node.arguments?.length ?? 0) === 0
}

/**
 * Returns the name of a collection that outlives the function that creates it, or undefined.
 * @param {ts.NewExpression} node
 * @param {ts.SourceFile} source
 * @returns {string | undefined}
 */
function longLivedNameOf(node, source) {
  const { parent } = outermostFallbackOf(node)
  if (ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent)) return parent.name.getText(source)
  if (ts.isBinaryExpression(parent))
    return ts.isPropertyAccessExpression(parent.left) ? parent.left.name.text : undefined
  return ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name) ? longLivedVariable(parent.name) : undefined
}

/**
 * Returns the name of a variable that outlives the function that declares it.
 * @param {ts.Identifier} identifier
 * @returns {string | undefined}
 */
function longLivedVariable(identifier) {
  const creator = enclosingFunctionOf(identifier)
  const { text } = identifier
  return creator === undefined || isUsedByRemainingFunction(creator, text) ? text : undefined
}

/**
 * Returns the expression `a ?? b` that has the node as its right side, or the node.
 * @param {ts.Node} node
 * @returns {ts.Node}
 */
function outermostFallbackOf(node) {
  const { parent } = node
  const isRightSide = ts.isBinaryExpression(parent) && parent.right === node && isFallback(parent)
  return isRightSide ? outermostFallbackOf(parent) : node
}

/** @param {ts.BinaryExpression} expression */
function isFallback({ operatorToken }) {
  return operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken
}

/**
 * @param {ts.Node} node
 * @returns {ts.Node | undefined}
 */
function enclosingFunctionOf(node) {
  let { parent } = node
  while (parent !== undefined && !ts.isFunctionLike(parent)) parent = parent.parent
  return parent
}

/**
 * Returns true if a closure inside a function uses the name. A callback such as the argument of `map` does not count.
 * @param {ts.Node} creator
 * @param {string} name
 * @returns {boolean}
 */
function isUsedByRemainingFunction(creator, name) {
  let isUsed = false
  /**
   * @param {ts.Node} node
   * @param {boolean} isInside
   */
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
