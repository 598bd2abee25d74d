import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { parseSource } from './imports.mjs'
import { problem, runCheck } from './report.mjs'
import { listFiles } from './workspace.mjs'

/**
 * Finds every `Map` and `Set` of the packages that lives longer than the call of one function, and demands a row with
 * the reason why no peer makes it grow without bound.
 *
 * A collection lives long when it is made at the top of a module, as a member of a class or of an object, or when a
 * function that its maker leaves behind uses it, or another collection takes it. One that begins with contents is a
 * table and does not count.
 */

const listFile = 'tooling/checks/collections.tsv'
const measuredFile = /^packages\/[^/]+\/src\/(?!(?:.*\/)?(?:testing|contract|dist)\/).*(?<!\.test|\.generated|\.d)\.ts$/
const collections = new Set(['Map', 'Set'])

/** The kinds of bounds, as the column `bound` of the list names them. */
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
          `${key} is a Map or a Set that lives longer than one call`,
          `bound what peers put into it, by the ledger where it can, and add a row to ${listFile}`,
        ),
      ),
    ...[...listedKeys]
      .filter((key) => !foundKeys.has(key))
      .map((key) => problem(`${listFile} lists ${key}, which is not there`, 'remove the row')),
    ...listed
      .filter(({ bound, reason }) => !bounds.has(bound) || reason === '')
      .map(({ file, name }) =>
        problem(`${listFile}: the row of ${file} ${name}`, `begin with one of ${[...bounds].join(', ')}, and a reason`),
      ),
  ]
}

/**
 * @param {string} root
 * @returns {ListedCollection[]}
 */
export function readList(root) {
  const path = join(root, listFile)
  if (!existsSync(path)) return []
  const [, ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const [file = '', name = '', bound = '', reason = ''] = line.split('\t')
    return { file, name, bound, reason }
  })
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
 * Returns the names of the collections of a file that live long.
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
 * Returns the name under which a collection outlives its maker, or undefined.
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
  const maker = enclosingFunctionOf(identifier)
  const { text } = identifier
  return maker === undefined || isUsedByRemainingFunction(maker, text) ? text : undefined
}

/**
 * Returns the expression `a ?? b` whose right side a node is, or the node.
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
 * Tells if a function inside of the maker uses the name, other than one that is called at once, such as the argument of
 * `map`.
 * @param {ts.Node} maker
 * @param {string} name
 * @returns {boolean}
 */
function isUsedByRemainingFunction(maker, name) {
  let isUsed = false
  /**
   * @param {ts.Node} node
   * @param {boolean} isInside
   */
  const visit = (node, isInside) => {
    if (ts.isIdentifier(node) && node.text === name && (isInside || isStored(node))) isUsed = true
    const remains = node !== maker && ts.isFunctionLike(node) && !ts.isCallExpression(node.parent)
    ts.forEachChild(node, (child) => visit(child, isInside || remains))
  }
  visit(maker, false)
  return isUsed
}

/**
 * Tells if a name is put into another collection.
 * @param {ts.Node} node
 * @returns {boolean}
 */
function isStored({ parent }) {
  if (!ts.isCallExpression(parent) || !ts.isPropertyAccessExpression(parent.expression)) return false
  return ['add', 'push', 'set'].includes(parent.expression.name.text)
}

await runCheck(import.meta.url, checkCollections)
