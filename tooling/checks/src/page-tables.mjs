import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { problem } from './report.mjs'

const page = 'docs/limits.md'

/**
 * Compares a table of a page with the generated one. The table is between two comments with its name. With `writes`, it
 * is updated.
 * @param {string} root
 * @param {{ name: string, table: string }} table
 * @param {boolean} writes
 * @returns {string[]}
 */
export function tableProblems(root, { name, table }, writes) {
  const path = join(root, page)
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const [opening, closing] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [start, end] = [text.indexOf(opening), text.indexOf(closing)]
  if (start === -1 || end < start)
    return [problem(`${page} has no table of ${name}`, `write ${opening} and ${closing} into it`)]
  const current = `${text.slice(0, start)}${opening}\n${table}\n${text.slice(end)}`
  if (current === text) return []
  if (!writes) return [problem(`the ${name} in ${page} differ from the source`, 'run pnpm docs:write')]
  writeFileSync(path, current)
  return []
}

/**
 * Formats a table in Markdown.
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 */
export function drawTable(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
