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

const row = /^\| \[([^\]]+)\]\(([^)\s]+)\) \| (.+) \|$/

/** Reads the menu of the site from the index of the documentation: a section for each heading with a table of pages. */
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
  const [, title, target, description] = row.exec(line) ?? []
  return title === undefined || target === undefined || description === undefined
    ? []
    : [{ title, target, description }]
}
