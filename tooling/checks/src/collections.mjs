import { join } from 'node:path'
import ts from 'typescript'
import { problem } from './report.mjs'
import { forEachNode, parseSource } from './syntax.mjs'
import { listFiles, shippedSource } from './workspace.mjs'

const programsOfOnePerson = /^packages\/(?:cli|testing)\//

/**
 * Reports each `Map` and `Set` of the packages that outlives the call of one function, and that nothing bounds: its file
 * neither compares its size with a limit nor uses the ledger, and no comment above it says what bounds it.
 *
 * A collection outlives a call if it is created at the top of a module or as a member of a class or an object. It also
 * does if a closure that remains after the call uses it, or if it is added to another collection. A collection with
 * initial contents is a table, and does not count.
 * @param {string} root
 * @returns {string[]}
 */
export function checkCollections(root) {
  return listFiles(root)
    .filter((file) => shippedSource.test(file) && !programsOfOnePerson.test(file))
    .flatMap((file) => {
      const source = parseSource(join(root, file))
      const names = collectionsIn(source).filter((name) => !isBounded(source, name))
      return names.map((name) =>
        problem(
          `${file} ${name} is a Map or a Set that outlives a call`,
          'compare its size with a limit, take entries from the ledger, or write "Bounded by …" in a comment above it',
        ),
      )
    })
}

/** @param {ts.SourceFile} source @param {string} name */
function isBounded({ text }, name) {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
  const size = `(?<![\\w$])${name}\\.size`
  return /\bledger\b/i.test(code) || new RegExp(`${size}(?: \\+ \\w+)? [<>]=? (?!0)|[<>]=? [\\w.]*${size}`).test(code)
}

/**
 * Returns the names of the collections of a file that outlive a call, and that no comment explains.
 * @param {ts.SourceFile} source
 */
function collectionsIn(source) {
  /** @type {Set<string>} */
  const names = new Set()
  forEachNode(source, (node) => {
    if (!ts.isNewExpression(node) || !/^(?:Map|Set)$/.test(node.expression.getText()) || node.arguments?.length) return
    const name = longLivedNameOf(node)
    if (name !== undefined && !isExplained(node)) names.add(name)
  })
  return [...names]
}

/**
 * Returns true if the declaration of a collection says what bounds it, or has a type to which nothing can be added.
 * @param {ts.Node} node
 */
function isExplained(node) {
  const declaration = ts.findAncestor(node, (one) => ts.isStatement(one) || ts.isClassElement(one)) ?? node
  const text = node.getSourceFile().text.slice(declaration.pos, node.getStart())
  return /\bBounded by\s|\bAlways empty\b|: [^=]*\bReadonly(?:Map|Set)\b[^=]* =/.test(text)
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
