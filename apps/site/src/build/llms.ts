import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { portableMarkdown, readDocument, resolveLink } from './documents.ts'
import { type MenuSection, readMenu } from './menu.ts'
import { pageOf } from './pages.ts'

const index = 'docs/README.md'
const summary = `Servers and clients of the Model Context Protocol (MCP), revision 2026-07-28, for TypeScript. A tool is one async
function that can ask the user in the middle of a call; any instance of a server continues the call.`

/** Writes each page as Markdown beside its HTML, the index \`llms.txt\` (llmstxt.org), and all pages in one file. */
export async function writeMarkdown(folder: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    const target = join(folder, pageOf(file) ?? file)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, portableMarkdown(file))
  }
  const menu = readMenu(readDocument(index))
  await writeFile(join(folder, 'llms.txt'), indexForModels(menu))
  await writeFile(join(folder, 'llms-full.txt'), allPages(menu))
}

function indexForModels(menu: readonly MenuSection[]): string {
  const sections = menu.map(({ title, entries }) => {
    const lines = entries.map(
      (entry) => `- [${entry.title}](${resolveLink(index, entry.target)}): ${withoutLinks(entry.description)}`,
    )
    return `## ${title}\n\n${lines.join('\n')}\n`
  })
  const first = `# x\n\n> ${summary.replaceAll('\n', '\n> ')}\n\n- [Introduction](/index.md)\n- [All pages in one file](/llms-full.txt)\n`
  return [first, ...sections].join('\n')
}

function allPages(menu: readonly MenuSection[]): string {
  const files = menu.flatMap(({ entries }) => entries.map(({ target }) => join(dirname(index), target)))
  return ['README.md', ...files].map((file) => `${portableMarkdown(file).trim()}\n`).join('\n---\n\n')
}

function withoutLinks(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
}
