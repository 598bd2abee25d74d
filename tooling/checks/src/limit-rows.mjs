import { join } from 'node:path'
import { readTable } from './table.mjs'

/** The list of the limits. */
export const limitList = 'tooling/checks/limits.tsv'

/**
 * One limit of the table in `docs/limits.md`.
 * @typedef {{ package: string, option: string, unit: 'count' | 'ms' | 'bytes' | 'characters' | 'share', bounds: string,
 *   beyond: string, name?: string, file?: string, isFixed?: boolean }} Limit `name` is the name of the default in the
 *   source, if it differs from the last part of `option`. `file` is a part of the path, if several files have a default
 *   of that name. A fixed limit has no option.
 */

/**
 * Reads the limits of the list, in its order. The first line of the list has the names of the members.
 * @param {string} root
 * @returns {Limit[]}
 */
export function readLimitRows(root) {
  const { columns, rows } = readTable(join(root, limitList))
  return rows.map((cells) => {
    const entries = columns.map((name, index) => [name, cells[index] ?? '']).filter(([, text]) => text !== '')
    const { kind, ...row } = Object.fromEntries(entries)
    return { ...row, isFixed: kind === 'fixed' }
  })
}
