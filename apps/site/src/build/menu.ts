/** One page in a menu, with the sentence that describes it. */
export interface MenuEntry {
  readonly title: string
  /** As the index writes it: relative to the folder of the index. */
  readonly target: string
  readonly description: string
}
export interface MenuSection {
  readonly title: string
  readonly entries: readonly MenuEntry[]
}

const row = /^\| (\[[^|]+\)) \| (.+) \|$/
const link = /\[([^\]]+)\]\(([^)\s]+)\)/g

/**
 * Reads the menu of the site from the index of the documentation: a section for each heading with a table of pages. A row
 * may have several pages.
 */
export function readMenu(index: string): readonly MenuSection[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.split('\n')
      return { title, entries: lines.flatMap(readRow) }
    })
    .filter(({ entries }) => entries.length > 0)
}

function readRow(line: string): MenuEntry[] {
  const [, pages = '', description = ''] = row.exec(line) ?? []
  return Array.from(pages.matchAll(link), ([, title = '', target = '']) => ({ title, target, description }))
}
