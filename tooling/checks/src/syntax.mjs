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
 * Returns all static and dynamic imports of a file, and its imports in types.
 * @param {ts.SourceFile} source
 * @returns {Import[]}
 */
export function importsOf(source) {
  /** @type {Import[]} */
  const imports = []
  /** @param {ts.Node} node */
  const visit = (node) => {
    const found = readImport(node)
    if (found !== undefined) {
      imports.push({ ...found, line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1 })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return imports
}

/**
 * @param {ts.Node} node
 * @returns {Omit<Import, 'line'> | undefined}
 */
function readImport(node) {
  if (ts.isImportDeclaration(node)) {
    return named(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword)
  }
  if (ts.isExportDeclaration(node)) return readExport(node)
  if (ts.isImportTypeNode(node))
    return named(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true)
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return named(node.arguments[0], false)
  }
  return undefined
}

/** @param {ts.ExportDeclaration} node */
function readExport(node) {
  const found = named(node.moduleSpecifier, node.isTypeOnly)
  const star = node.exportClause === undefined || ts.isNamespaceExport(node.exportClause)
  return found && { ...found, star }
}

/**
 * @param {ts.Node | undefined} node
 * @param {boolean} typeOnly
 * @returns {Omit<Import, 'line'> | undefined}
 */
function named(node, typeOnly) {
  return node && ts.isStringLiteralLike(node) ? { specifier: node.text, typeOnly, star: false } : undefined
}

const nodeGlobals = new Set(['process', 'Buffer', 'require', '__dirname', '__filename', 'setImmediate', 'global'])

/**
 * Returns the names that only Node defines and that a file uses as values. `globalThis.process` does not count, because
 * it may be undefined.
 * @param {ts.SourceFile} source
 * @returns {{ name: string, line: number }[]}
 */
export function nodeGlobalsOf(source) {
  /** @type {{ name: string, line: number }[]} */
  const found = []
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isTypeNode(node)) return
    if (ts.isIdentifier(node) && nodeGlobals.has(node.text) && isUse(node)) {
      found.push({ name: node.text, line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1 })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** @param {ts.Identifier} node */
function isUse(node) {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node
  return ts.isCallExpression(parent) || ts.isBinaryExpression(parent) || ts.isVariableDeclaration(parent)
    ? !('name' in parent && parent.name === node)
    : false
}
