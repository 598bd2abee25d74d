import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DefaultTheme, HeadConfig, MarkdownEnv, MarkdownRenderer } from 'vitepress'
import { withMermaid } from 'vitepress-plugin-mermaid'
import { fileOf, readDocument, repository, resolveLink, root } from '../src/build/documents.ts'
import { writeMarkdown } from '../src/build/llms.ts'
import { readMenu } from '../src/build/menu.ts'
import { notPages, pageOf } from '../src/build/pages.ts'
import { listPackages, referenceMenu } from '../src/build/reference-menu.ts'

const index = 'docs/README.md'
const hero = {
  name: 'x',
  text: 'The Model Context Protocol for TypeScript',
  tagline:
    'Write servers that Claude, ChatGPT, VS Code and Cursor call. A tool is one async function that asks its user, and any instance continues it.',
  actions: [
    { theme: 'brand', text: 'Tutorial', link: '/tutorial' },
    { theme: 'alt', text: 'Documentation', link: '/docs' },
    { theme: 'alt', text: 'Source', link: repository },
  ],
}

export default withMermaid({
  title: 'x',
  description: 'Servers and clients of the Model Context Protocol for TypeScript',
  lang: 'en',
  srcDir: root,
  srcExclude: [...notPages],
  outDir: join(root, 'apps/site/dist-web'),
  cacheDir: join(root, 'apps/site/.vitepress/cache'),
  cleanUrls: true,
  // The index of the search is one chunk, which the first search loads.
  vite: {
    build: { chunkSizeWarningLimit: 10_000 },
    resolve: { alias: [aliasOf('vue', 'vue/dist/vue.runtime.esm-bundler.js'), aliasOf('vue/server-renderer')] },
  },
  rewrites: (file: string) => pageOf(file) ?? file,
  markdown: {
    config: useSiteLinks,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    nav: [
      { text: 'Documentation', link: '/docs' },
      { text: 'Packages', link: '/packages/server' },
      { text: 'Reference', link: '/reference/server/main' },
    ],
    sidebar: { '/': guideMenu(), '/reference/': referenceMenu() },
    outline: [2, 3],
    editLink: { pattern: `${repository}/edit/main/:path` },
    socialLinks: [{ icon: 'github', link: repository }],
    search: { provider: 'local', options: { _render: renderForSearch } },
  },
  transformPageData(page) {
    if (page.relativePath === 'index.md') Object.assign(page.frontmatter, { layout: 'home', hero })
  },
  transformHead: ({ page }): HeadConfig[] => [['link', { rel: 'alternate', type: 'text/markdown', href: `/${page}` }]],
  buildEnd: ({ outDir, pages }) => writeMarkdown(outDir, pages),
})

/** Makes every link of a page lead to a page of the site, or to a file of the repository. */
function useSiteLinks(md: MarkdownRenderer): void {
  md.core.ruler.push('site-links', (state) => {
    const { path, realPath } = state.env as MarkdownEnv
    const from = fileOf(realPath ?? path)
    for (const token of state.tokens.flatMap(({ children }) => children ?? [])) {
      const target = token.type === 'link_open' ? token.attrGet('href') : null
      if (target !== null) token.attrSet('href', resolveLink(from, target))
    }
  })
}

/** The reference stays outside the search: its thousands of names would hide the guides. */
function renderForSearch(text: string, env: MarkdownEnv, md: Pick<MarkdownRenderer, 'render'>): string {
  return fileOf(env.path).startsWith('docs/reference/') ? '' : md.render(text, env)
}

function guideMenu(): DefaultTheme.SidebarItem[] {
  const sections = readMenu(readDocument(index)).map(({ title, entries }) => ({
    text: title,
    items: entries.map((entry) => ({ text: entry.title, link: resolveLink(index, entry.target) })),
  }))
  return [{ text: 'Introduction', link: '/' }, ...sections, { text: 'Packages', items: packageMenu() }]
}

function packageMenu(): DefaultTheme.SidebarItem[] {
  return listPackages().map((name) => ({ text: `@x/${name}`, link: `/packages/${name}` }))
}

/** Pages are files of the whole repository, where the dependencies of the site cannot be found. */
function aliasOf(name: string, module: string = name): { readonly find: RegExp; readonly replacement: string } {
  return { find: new RegExp(`^${name}$`), replacement: fileURLToPath(import.meta.resolve(module)) }
}
