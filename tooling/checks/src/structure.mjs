import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import ts from 'typescript'
import { upwardImports } from './folders.mjs'
import { parseSource } from './imports.mjs'
import { listFiles } from './workspace.mjs'

/**
 * @typedef {{ title: string, value: number, limit: number, details: readonly string[] }} StructureRow
 *   The limit is inclusive; it is the value that was reached.
 */

const measuredFile = /^packages\/[^/]+\/src\/(?!(?:.*\/)?(?:testing|contract|dist)\/).*(?<!\.test|\.generated|\.d)\.ts$/
const smallFileLines = 20

/**
 * Measures the size of files and the imports between folders of the packages.
 * @param {string} root
 * @returns {StructureRow[]}
 */
export function measureStructure(root) {
  const files = listFiles(root)
  const lengths = files
    .filter((file) => measuredFile.test(file))
    .map((file) => ({ file, lines: codeLines(parseSource(join(root, file))) }))
  const small = lengths.filter(({ lines }) => lines <= smallFileLines).map(({ file, lines }) => `${file}: ${lines}`)
  const code = lengths.reduce((sum, { lines }) => sum + lines, 0)
  const upward = [
    { folder: 'packages/server', limit: 0 },
    { folder: 'packages/client', limit: 2 },
    { folder: 'packages/tasks', limit: 0 },
  ].map(({ folder, limit }) => {
    const details = upwardImports(root, folder, { files })
    return {
      title: `imports between folders of ${folder}/src against the layers`,
      value: details.length,
      limit,
      details,
    }
  })
  return [
    ...upward,
    { title: `files of at most ${smallFileLines} lines of code`, value: small.length, limit: 34, details: small },
    { title: 'lines of code in packages', value: code, limit: 41_800, details: [] },
  ]
}

/**
 * Measures the files that a warm request reaches; it takes seconds, because it starts a server from the sources.
 * @param {string} root
 * @returns {StructureRow[]}
 */
export function measureCalls(root) {
  const program = join(import.meta.dirname, 'call-coverage.mjs')
  /** @type {{ call: string[], secondRound: string[] }} */
  const { call, secondRound } = JSON.parse(execFileSync('node', [program, root], { encoding: 'utf8' }))
  return [
    { title: 'files that a warm tools/call reaches', value: call.length, limit: 38, details: call },
    { title: 'files that a warm second round reaches', value: secondRound.length, limit: 55, details: secondRound },
  ]
}

/**
 * Counts the lines that hold a token.
 * @param {ts.SourceFile} source
 * @returns {number}
 */
function codeLines(source) {
  /** @type {Set<number>} */
  const lines = new Set()
  /** @param {ts.Node} node */
  const visit = (node) => {
    const children = node.getChildren(source).filter(({ kind }) => !isDocumentation(kind))
    for (const child of children) visit(child)
    if (children.length > 0 || node.getWidth(source) === 0) return
    const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line
    const last = source.getLineAndCharacterOfPosition(node.getEnd() - 1).line
    for (let line = first; line <= last; line += 1) lines.add(line)
  }
  visit(source)
  return lines.size
}

/** @param {ts.SyntaxKind} kind */
function isDocumentation(kind) {
  return kind >= ts.SyntaxKind.FirstJSDocNode && kind <= ts.SyntaxKind.LastJSDocNode
}
