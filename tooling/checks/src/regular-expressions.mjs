import { join } from 'node:path'
import { analyse } from 'scslre'
import ts from 'typescript'
import { problem } from './report.mjs'
import { forEachNode, lineOf, parseSource } from './syntax.mjs'
import { listFiles, shippedSource } from './workspace.mjs'

/**
 * Finds the regular expressions of the packages whose time can grow faster than the text, by backtracking or because a
 * search begins again at each character. Most of them meet a peer's text, and no list would keep the others apart.
 * @param {string} root
 * @returns {string[]}
 */
export function checkRegularExpressions(root) {
  /** @type {string[]} */
  const problems = []
  for (const file of listFiles(root).filter((path) => shippedSource.test(path))) {
    forEachNode(parseSource(join(root, file)), (node) => {
      if (!ts.isRegularExpressionLiteral(node) || !isSuperLinear(node.text)) return
      const remedy = 'anchor it (^ or the flag y), or let no two neighbouring parts match the same characters'
      problems.push(problem(`${file}:${lineOf(node)}: the time of ${node.text} can grow faster than its text`, remedy))
    })
  }
  return problems
}

/** @param {string} literal */
function isSuperLinear(literal) {
  const end = literal.lastIndexOf('/')
  const [source, flags] = [literal.slice(1, end), literal.slice(end + 1)]
  return beginsAtEachLine(source, flags) || analyse({ source, flags }).reports.length > 0
}

/**
 * With the flag `m` a search begins at each line, and a part that crosses lines then reads the rest of the text from
 * each. The library does not know this kind.
 * @param {string} source
 * @param {string} flags
 */
function beginsAtEachLine(source, flags) {
  if (!flags.includes('m') || flags.includes('y')) return false
  return /\[\\s\\S\][*+]/.test(source) || (flags.includes('s') && /(?<!\\)\.[*+]/.test(source))
}
