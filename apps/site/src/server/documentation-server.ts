import { legacy } from '@x/legacy'
import { createServer, type McpServer, resource, ToolError, tool } from '@x/server'
import { type SkillFile, skills } from '@x/skills/server'
import * as z from 'zod'
import { indexPages } from './page-index.ts'
import type { Page } from './read-pages.ts'

const instructions = `The documentation of the @x packages for the Model Context Protocol. Search it, then read the pages.
Before you write a server, read skill://write-server/SKILL.md; before you move one from the official SDK,
skill://migrate/SKILL.md.`

/** As many sections as a model reads before it searches again. */
const foundSections = 8

/** Creates the MCP server of the documentation: a search, the pages, and the skills for coding agents. */
export function createDocumentationServer(pages: readonly Page[], files: readonly SkillFile[]): McpServer {
  const byPath = new Map(pages.map((page) => [page.path, page]))
  const find = indexPages(pages)
  const section = z.object({ path: z.string(), title: z.string(), heading: z.string(), excerpt: z.string() })
  const search = tool('search_documentation', {
    description: 'Finds sections of the documentation. Read their pages with read_page',
    input: z.object({ query: z.string().min(1).max(200) }),
    output: z.object({ sections: z.array(section) }),
    run: ({ query }) => ({ sections: [...find(query, foundSections)] }),
  })
  const read = tool('read_page', {
    description: 'Returns a page of the documentation in Markdown',
    input: z.object({ path: z.string().describe('The path that search_documentation returned') }),
    run({ path }) {
      const page = byPath.get(path)
      if (page === undefined) throw new ToolError(`There is no page "${path}": take a path from search_documentation`)
      return page.text
    },
  })
  const resources = pages.map(({ path, title, text }) =>
    resource(`docs:///${path}`, { name: path, title, mimeType: 'text/markdown', read: () => text }),
  )
  return createServer({
    name: 'documentation',
    version: '0.1.0',
    instructions,
    tools: [search, read],
    resources,
    extensions: [skills({ files }), legacy()],
  })
}
