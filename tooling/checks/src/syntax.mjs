import { readFileSync } from 'node:fs'
import ts from 'typescript'

/**
 * @typedef {{ specifier: string, line: number, typeOnly: boolean, star: boolean }} Import A `typeOnly` import does not
 *   exist at run time. `star` marks an `export *`.
 */

/** @type {Map<string, ts.SourceFile>} */
const parsed = new Map()

/**
 * Parses a file once for all checks of a run.
 * @param {string} file
 * @param {ts.ScriptTarget | ts.CreateSourceFileOptions} version
 * @returns {ts.SourceFile}
 */
export function parseSource(file, version = ts.ScriptTarget.Latest) {
  const known = parsed.get(file)
  if (known !== undefined) return known
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), version, true)
  parsed.set(file, source)
  return source
}

/**
 * Calls a function with a node and each node in it. Where it returns false, the nodes inside are left out.
 * @param {ts.Node} root
 * @param {(node: ts.Node) => boolean | void} visitor
 */
export function forEachNode(root, visitor) {
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (visitor(node) !== false) ts.forEachChild(node, visit)
  }
  visit(root)
}

/** Returns the line of a node in its file, from one. @param {ts.Node} node */
export function lineOf(node) {
  return node.getSourceFile().getLineAndCharacterOfPosition(node.getStart()).line + 1
}

/** @type {WeakMap<ts.SourceFile, Import[]>} */
const importsBySource = new WeakMap()

/**
 * Returns all static and dynamic imports of a file, and its imports in types.
 * @param {ts.SourceFile} source
 * @returns {readonly Import[]}
 */
export function importsOf(source) {
  const known = importsBySource.get(source)
  if (known !== undefined) return known
  /** @type {Import[]} */
  const imports = []
  forEachNode(source, (node) => {
    const { name, typeOnly = false, star = false } = readImport(node)
    if (name === undefined || !ts.isStringLiteralLike(name)) return
    imports.push({ specifier: name.text, line: lineOf(node), typeOnly, star })
  })
  importsBySource.set(source, imports)
  return imports
}

/** @param {ts.Node} node @returns {{ name?: ts.Node | undefined, typeOnly?: boolean, star?: boolean }} */
function readImport(node) {
  if (ts.isImportDeclaration(node)) {
    return { name: node.moduleSpecifier, typeOnly: node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword }
  }
  if (ts.isExportDeclaration(node)) {
    const star = node.exportClause === undefined || ts.isNamespaceExport(node.exportClause)
    return { name: node.moduleSpecifier, typeOnly: node.isTypeOnly, star }
  }
  if (ts.isImportTypeNode(node)) {
    return { name: ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, typeOnly: true }
  }
  const isCall = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
  return { name: isCall ? node.arguments[0] : undefined }
}

const nodeGlobals = new Set(['process', 'Buffer', 'require', '__dirname', '__filename', 'setImmediate', 'global'])

/**
 * Returns the uses of what only Node defines. `globalThis.process` does not count, because it may be undefined.
 * @param {ts.SourceFile} source
 * @returns {{ name: string, line: number }[]}
 */
export function nodeGlobalsOf(source) {
  /** @type {{ name: string, line: number }[]} */
  const found = []
  forEachNode(source, (node) => {
    if (ts.isIdentifier(node) && nodeGlobals.has(node.text) && !isName(node)) {
      found.push({ name: node.text, line: lineOf(node) })
    }
    return !ts.isTypeNode(node)
  })
  return found
}

/** Returns true for a member, a declaration, or what is taken out of an object. @param {ts.Identifier} node */
function isName(node) {
  return ts.isBindingElement(node.parent) || ('name' in node.parent && node.parent.name === node)
}
