import { existsSync, readFileSync } from 'node:fs'

/**
 * Reads a file of tab-separated values, whose first line has the names of the columns. A file that does not exist has
 * no rows.
 * @param {string} path
 * @returns {{ columns: string[], rows: string[][] }}
 */
export function readTable(path) {
  if (!existsSync(path)) return { columns: [], rows: [] }
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  const [columns = [], ...rows] = lines.map((line) => line.split('\t'))
  return { columns, rows }
}
