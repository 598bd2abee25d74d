import { join } from 'node:path'
import { analyse } from 'scslre'
import ts from 'typescript'
import { parseSource } from './syntax.mjs'
import { problem, runCheck } from './report.mjs'
import { listFiles, shippedSource } from './workspace.mjs'

/**
 * Finds the regular expressions of the packages whose time can grow faster than the text, by backtracking or because a
 * search begins again at each character. Most of them meet a peer's text, and no list would keep the others apart.
 */

/** @param {string} root @returns {string[]} */
export function checkRegularExpressions(root) {
  return listFiles(root)
    .filter((file) => shippedSource.test(file))
    .flatMap((file) =>
      literalsIn(parseSource(join(root, file)))
        .filter(isSuperLinear)
        .map((literal) =>
          problem(
            `${file}: the time of ${literal} can grow faster than its text`,
            'anchor it (^ or the flag y), or let no two neighbouring parts match the same characters',
          ),
        ),
    )
}

/** @param {ts.SourceFile} source @returns {string[]} */
function literalsIn(source) {
  /** @type {string[]} */
  const literals = []
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isRegularExpressionLiteral(node)) literals.push(node.text)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return literals
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

await runCheck(import.meta.url, checkRegularExpressions)
