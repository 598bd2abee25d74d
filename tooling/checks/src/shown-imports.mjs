import ts from 'typescript'
import { parseSource } from './syntax.mjs'

const width = 90

/**
 * Returns a part of a file after the imports from packages that it uses.
 * @param {string} shown The part. A part with imports is returned unchanged.
 * @param {string} path The path of the file.
 * @returns {string}
 */
export function withImports(shown, path) {
  if (/^import /m.test(shown)) return shown
  const imports = parseSource(path).statements.filter((statement) => ts.isImportDeclaration(statement))
  const lines = imports.flatMap(({ importClause, moduleSpecifier }) => {
    const specifier = moduleSpecifier.getText().slice(1, -1)
    if (importClause === undefined || specifier.startsWith('.')) return []
    const type = importClause.phaseModifier === ts.SyntaxKind.TypeKeyword ? 'type ' : ''
    return bindingsOf(importClause, shown).map((bindings) => `import ${type}${bindings} from '${specifier}'`)
  })
  return lines.length === 0 ? shown : `${lines.join('\n')}\n\n${shown}`
}

/** @param {ts.ImportClause} clause @param {string} shown @returns {string[]} */
function bindingsOf({ name, namedBindings }, shown) {
  const code = shown.replaceAll(/\/\/.*$|\/\*[\s\S]*?\*\/|'[^'\n]*'/gm, '')
  const isUsed = (/** @type {ts.Identifier} */ one) => new RegExp(`(?<![.\\w$])${one.text}(?![\\w$]|: )`).test(code)
  if (namedBindings !== undefined && ts.isNamespaceImport(namedBindings)) {
    return isUsed(namedBindings.name) ? [namedBindings.getText()] : []
  }
  const names = (namedBindings?.elements ?? []).filter((one) => isUsed(one.name)).map((one) => one.getText())
  if (names.length === 0) return name !== undefined && isUsed(name) ? [name.text] : []
  const line = `{ ${names.join(', ')} }`
  return [line.length <= width ? line : `{\n  ${names.join(',\n  ')},\n}`]
}
