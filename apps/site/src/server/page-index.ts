import MiniSearch from 'minisearch'
import type { Page } from './read-pages.ts'

/** A section of a page that fits a query. */
export interface FoundSection {
  readonly path: string
  readonly title: string
  readonly heading: string
  readonly excerpt: string
}

interface Section extends FoundSection {
  readonly id: number
  readonly text: string
}

/** The first characters of a section are enough to choose a page. */
const excerptLength = 300

/** Creates the search over the sections of all pages. The best section is first. */
export function indexPages(pages: readonly Page[]): (query: string, limit: number) => readonly FoundSection[] {
  const sections = pages.flatMap(splitPage).map((section, id) => ({ ...section, id }))
  const index = new MiniSearch<Section>({
    fields: ['title', 'heading', 'text'],
    searchOptions: { boost: { title: 3, heading: 2 }, prefix: true, fuzzy: 0.1 },
  })
  index.addAll(sections)
  return (query, limit) =>
    index
      .search(query)
      .slice(0, limit)
      .flatMap(({ id }) => {
        const section = sections[Number(id)]
        if (section === undefined) return []
        const { path, title, heading, excerpt } = section
        return [{ path, title, heading, excerpt }]
      })
}

function splitPage({ path, title, text }: Page): Omit<Section, 'id'>[] {
  return text.split(/^(?=## )/m).map((part) => {
    const heading = /^#+ (.+)/.exec(part)?.[1] ?? title
    return { path, title, heading, text: part, excerpt: part.slice(0, excerptLength) }
  })
}
