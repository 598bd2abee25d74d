import ts from 'typescript'
import { parseSource } from './imports.mjs'

const width = 90

/**
 * Returns a part of a file after the imports from packages that it uses.
 * @param {string} shown The part. A part with imports is returned unchanged.
 * @param {string} path The path of the file.
 * @returns {string}
 */
export function withImports(shown, path) {
  if (/^import /m.test(shown)) return shown
  const used = usedNames(shown)
  const lines = parseSource(path)
    .statements.filter((statement) => ts.isImportDeclaration(statement))
    .flatMap((statement) => shownImport(statement, used))
  return lines.length === 0 ? shown : `${lines.join('\n')}\n\n${shown}`
}

/** @param {string} shown */
function usedNames(shown) {
  const source = ts.createSourceFile('shown.ts', shown, ts.ScriptTarget.Latest, true)
  /** @type {Set<string>} */
  const names = new Set()
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isIdentifier(node) && !isMember(node)) names.add(node.text)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return names
}

/** @param {ts.Identifier} node */
function isMember(node) {
  const { parent } = node
  return (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent)) && node === parent.name
}

/**
 * @param {ts.ImportDeclaration} statement
 * @param {ReadonlySet<string>} used
 * @returns {string[]}
 */
function shownImport({ importClause, moduleSpecifier }, used) {
  const specifier = ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : ''
  if (importClause === undefined || specifier.startsWith('.')) return []
  const type = importClause.phaseModifier === ts.SyntaxKind.TypeKeyword ? 'type ' : ''
  return shownBindings(importClause, used).map((bindings) => `import ${type}${bindings} from '${specifier}'`)
}

/**
 * @param {ts.ImportClause} clause
 * @param {ReadonlySet<string>} used
 * @returns {string[]}
 */
function shownBindings({ name, namedBindings }, used) {
  const whole = name !== undefined && used.has(name.text) ? [name.text] : []
  if (namedBindings === undefined) return whole
  if (ts.isNamespaceImport(namedBindings)) {
    return used.has(namedBindings.name.text) ? [`* as ${namedBindings.name.text}`] : []
  }
  const names = namedBindings.elements.filter((one) => used.has(one.name.text)).map((one) => one.getText())
  if (names.length === 0) return whole
  const line = `{ ${names.join(', ')} }`
  return [line.length <= width ? line : `{\n  ${names.join(',\n  ')},\n}`]
}
