import ts from 'typescript'

/** @typedef {{ start: number, end: number, text: string }} Edit */

/**
 * Says of a module what `"sideEffects": false` says of its package, in the form that bundlers of applications read within a
 * file: what a top-level variable is set to may be left out with the variable, and no file is imported for what it does.
 * Nothing moves to another line, so that a source map still fits.
 * @param {string} source JavaScript.
 * @returns {string}
 */
export function markPure(source) {
  const { statements } = ts.createSourceFile('module.js', source, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS)
  const edits = statements.flatMap((statement) =>
    ts.isVariableStatement(statement) ? pureInitializers(statement, source) : bareImport(statement),
  )
  return edits.reduceRight((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), source)
}

/**
 * The whole value becomes one call that is marked. A mark in front of every call inside would not do: bundlers keep the spread
 * of an object, since it may run a getter.
 * @param {ts.VariableStatement} statement
 * @param {string} source
 * @returns {Edit[]}
 */
function pureInitializers({ declarationList }, source) {
  return declarationList.declarations.flatMap(({ initializer }) => {
    if (initializer === undefined || !holds(initializer, runsCode) || holds(initializer, ts.isAwaitExpression))
      return []
    const [start, end] = [initializer.getStart(), initializer.end]
    if (source.slice(initializer.pos, start).includes('@__PURE__')) return []
    return [{ start, end, text: `/* @__PURE__ */ (() => (${source.slice(start, end)}))()` }]
  })
}

/**
 * esbuild keeps the order in which files run by importing those of which it needs no name.
 * @param {ts.Statement} statement
 * @returns {Edit[]}
 */
function bareImport(statement) {
  if (!ts.isImportDeclaration(statement) || statement.importClause !== undefined) return []
  const isOurs = ts.isStringLiteral(statement.moduleSpecifier) && statement.moduleSpecifier.text.startsWith('.')
  return isOurs ? [{ start: statement.getStart(), end: statement.end, text: '' }] : []
}

/** @param {ts.Node} node */
function runsCode(node) {
  return (
    ts.isCallExpression(node) || ts.isNewExpression(node) || ts.isSpreadAssignment(node) || ts.isSpreadElement(node)
  )
}

/**
 * Whether a node, or one inside it that runs with it, is of a kind.
 * @param {ts.Node} node
 * @param {(node: ts.Node) => boolean} isKind
 * @returns {boolean}
 */
function holds(node, isKind) {
  if (ts.isFunctionLike(node)) return false
  return isKind(node) || ts.forEachChild(node, (child) => holds(child, isKind) || undefined) === true
}
