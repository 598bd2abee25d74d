import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { parseSource } from './syntax.mjs'
import { problem, runCheck } from './report.mjs'
import { listFiles, shippedSource } from './workspace.mjs'

/**
 * Finds every `Map` and `Set` of the packages that outlives the call of one function, and that its file does not bound:
 * neither compares the file its size with a limit, nor does it use the ledger. Each requires a row with the reason why no
 * peer can make it grow without a bound.
 *
 * A collection outlives a call if it is created at the top of a module or as a member of a class or an object. It also
 * does if a closure that remains after the call uses it, or if it is added to another collection. A collection with
 * initial contents is a table, and does not count. Neither do the programs of one person, `mcpx` and the testing kit.
 */

const listFile = 'tooling/checks/collections.tsv'
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
          `compare its size with a limit, take entries from the ledger, or add a row with the reason to ${listFile}`,
        ),
      ),
    ...[...listedKeys]
      .filter((key) => !foundKeys.has(key))
      .map((key) => problem(`${listFile} lists ${key}, which needs no row`, 'remove it')),
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
function readList(root) {
  if (!existsSync(join(root, listFile))) return []
  const [, ...lines] = readFileSync(join(root, listFile), 'utf8').trimEnd().split('\n')
  return lines.flatMap((line) => {
    const [file = '', names = '', bound = '', reason = ''] = line.split('\t')
    return names.split(' ').map((name) => ({ file, name, bound, reason }))
  })
}

/**
 * @param {string} root
 * @returns {Collection[]}
 */
export function findCollections(root) {
  return listFiles(root)
    .filter((file) => shippedSource.test(file))
    .filter((file) => !/^packages\/(?:cli|testing)\//.test(file))
    .flatMap((file) => {
      const source = parseSource(join(root, file))
      return collectionsIn(source)
        .filter((name) => !isBounded(source, name))
        .map((name) => ({ file, name }))
    })
}

/**
 * Returns true if a file compares the size of a collection with a limit, or uses the ledger.
 * @param {ts.SourceFile} source
 * @param {string} name
 */
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
