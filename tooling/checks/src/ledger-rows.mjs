import { existsSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { defaultsIn } from './defaults.mjs'
import { parseSource } from './imports.mjs'

const file = 'packages/core/src/ledger.ts'
const tableName = 'ledgerBounds'

/**
 * One kind of the ledger.
 * @typedef {{ kind: string, perCaller: number, total: number, text: string }} LedgerRow `text` is its comment.
 */

/**
 * Reads the kinds of the ledger with their bounds.
 * @param {string} root
 * @returns {LedgerRow[]}
 */
export function readLedgerRows(root) {
  const path = join(root, file)
  if (!existsSync(path)) return []
  const source = parseSource(path)
  return membersOf(source).map((member) => {
    const kind = member.name.getText(source)
    const boundOf = (/** @type {string} */ name) =>
      defaultsIn(source, `${tableName}.${kind}.${name}`).at(0) ?? Number.NaN
    return { kind, perCaller: boundOf('perCaller'), total: boundOf('total'), text: commentOf(member, source) }
  })
}

/**
 * @param {ts.SourceFile} source
 * @returns {readonly ts.PropertyAssignment[]}
 */
function membersOf(source) {
  /** @type {ts.PropertyAssignment[]} */
  const members = []
  /** @param {ts.Node} node */
  const visit = (node) => {
    const isMember = ts.isPropertyAssignment(node) && ts.isObjectLiteralExpression(node.initializer)
    if (isMember && isInTable(node)) members.push(node)
    else ts.forEachChild(node, visit)
  }
  visit(source)
  return members
}

/** @param {ts.Node} node */
function isInTable(node) {
  let { parent } = node
  while (parent !== undefined && !ts.isVariableDeclaration(parent)) parent = parent.parent
  return parent !== undefined && parent.name.getText() === tableName
}

/**
 * Returns the text of the comment above a node, in one line.
 * @param {ts.Node} node
 * @param {ts.SourceFile} source
 */
function commentOf(node, source) {
  const [range] = ts.getLeadingCommentRanges(source.text, node.pos) ?? []
  if (range === undefined) return ''
  return source.text
    .slice(range.pos + 3, range.end - 2)
    .replaceAll(/\s*\n\s*\*?\s*/g, ' ')
    .trim()
}
