import { existsSync } from 'node:fs'
import ts from 'typescript'
import { parseSource } from './imports.mjs'

/**
 * The names that a file exports as values, read from its text alone.
 * @param {string} file
 * @returns {string[]}
 */
export function exportedValues(file) {
  if (!existsSync(file)) return []
  return parseSource(file).statements.flatMap((statement) =>
    ts.isExportDeclaration(statement) ? listed(statement) : declared(statement),
  )
}

/** @param {ts.ExportDeclaration} statement */
function listed({ exportClause, isTypeOnly }) {
  if (isTypeOnly || exportClause === undefined || !ts.isNamedExports(exportClause)) return []
  return exportClause.elements.filter((element) => !element.isTypeOnly).map(({ name }) => name.text)
}

/** @param {ts.Statement} statement */
function declared(statement) {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined
  if (!modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return []
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText())
  }
  return ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement) ? [statement.name?.text ?? ''] : []
}
