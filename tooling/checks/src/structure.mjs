import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parseSource } from './imports.mjs'
import { isDocumentation } from './comments.mjs'
import { listFiles } from './workspace.mjs'

/** @typedef {{ title: string, value: number, details: readonly string[] }} Measured */

const measuredFile = /^packages\/[^/]+\/src\/(?!(?:.*\/)?(?:testing|contract|dist)\/).*(?<!\.test|\.generated|\.d)\.ts$/
const smallFileLines = 20

/**
 * Measures the size of the packages and of their files.
 * @param {string} root
 * @returns {Measured[]}
 */
export function measureSize(root) {
  const lengths = listFiles(root)
    .filter((file) => measuredFile.test(file))
    .map((file) => ({ file, lines: codeLines(parseSource(join(root, file))) }))
  const small = lengths.filter(({ lines }) => lines <= smallFileLines).map(({ file, lines }) => `${file}: ${lines}`)
  return [
    { title: `files of at most ${smallFileLines} lines of code`, value: small.length, details: small },
    { title: 'lines of code in packages', value: lengths.reduce((sum, { lines }) => sum + lines, 0), details: [] },
  ]
}

/**
 * Counts the files that a warm request calls. It takes seconds, because it starts a server from the sources.
 * @param {string} root
 * @returns {Measured[]}
 */
export function measureCalls(root) {
  const program = join(import.meta.dirname, 'call-coverage.mjs')
  /** @type {{ call: string[], secondRound: string[] }} */
  const { call, secondRound } = JSON.parse(execFileSync('node', [program, root], { encoding: 'utf8' }))
  return [
    { title: 'files that a warm tools/call reaches', value: call.length, details: call },
    { title: 'files that a warm second round reaches', value: secondRound.length, details: secondRound },
  ]
}

/**
 * Counts the lines that contain a token.
 * @param {import('typescript').SourceFile} source
 * @returns {number}
 */
function codeLines(source) {
  /** @type {Set<number>} */
  const lines = new Set()
  /** @param {import('typescript').Node} node */
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
