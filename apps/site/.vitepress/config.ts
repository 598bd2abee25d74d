import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DefaultTheme, HeadConfig, MarkdownEnv, MarkdownRenderer } from 'vitepress'
import { withMermaid } from 'vitepress-plugin-mermaid'
import { requireColours, withoutTimeLimit } from '../src/build/code-colours.ts'
import { fileOf, readDocument, repository, resolveLink, root } from '../src/build/documents.ts'
import { writeMarkdown } from '../src/build/llms.ts'
import { readMenu } from '../src/build/menu.ts'
import { notPages, pageOf } from '../src/build/pages.ts'
import { listPackages, referenceMenu } from '../src/build/reference-menu.ts'
import { readHome } from '../src/home/home.ts'

const index = 'docs/README.md'

export default withMermaid({
  title: 'x',
  description: 'Servers and clients of the Model Context Protocol for TypeScript',
  lang: 'en',
  srcDir: root,
  srcExclude: [...notPages],
  outDir: join(root, 'apps/site/dist-web'),
  cacheDir: join(root, 'apps/site/.vitepress/cache'),
  cleanUrls: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/logo.svg' }]],
  // The index of the search is one chunk, which the first search loads.
  vite: {
    build: { chunkSizeWarningLimit: 10_000 },
    publicDir: join(root, 'apps/site/public'),
    resolve: { alias: [aliasOf('vue', 'vue/dist/vue.runtime.esm-bundler.js'), aliasOf('vue/server-renderer')] },
  },
  rewrites: (file: string) => pageOf(file) ?? file,
  markdown: {
    config(md) {
      useHome(md)
      useSiteLinks(md)
      requireColours(md)
    },
    codeTransformers: [withoutTimeLimit],
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    logo: '/logo.svg',
    nav: [
      { text: 'Documentation', link: '/docs' },
      { text: 'Packages', link: '/packages/server' },
      { text: 'Reference', link: '/reference/server/main' },
    ],
    sidebar: { '/': guideMenu(), '/reference/': referenceMenu() },
    outline: [2, 3],
    editLink: { pattern: `${repository}/edit/main/:path` },
    socialLinks: [{ icon: 'github', link: repository }],
    search: {
      provider: 'local',
      // A function is serialized into the page, so it names nothing outside of it.
      options: {
        _render: renderForSearch,
        miniSearch: { searchOptions: { boostDocument: (page: string) => (page.startsWith('/reference/') ? 0.2 : 1) } },
      },
    },
  },
  transformPageData(page) {
    if (page.relativePath === 'index.md') Object.assign(page.frontmatter, { layout: 'home' })
  },
  transformHead: ({ page }): HeadConfig[] =>
    page === '404.md' ? [] : [['link', { rel: 'alternate', type: 'text/markdown', href: `/${page}` }]],
  buildEnd: ({ outDir, pages }) => writeMarkdown(outDir, pages),
})

/** The README becomes the home. */
function useHome(md: MarkdownRenderer): void {
  md.core.ruler.before('normalize', 'home', (state) => {
    const { path, realPath } = state.env as MarkdownEnv
    if (fileOf(realPath ?? path) === 'README.md') state.src = readHome(state.src)
  })
}

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

/** Of the reference only the names are searched: its descriptions would hide the guides, and double the index. */
function renderForSearch(text: string, env: MarkdownEnv, md: Pick<MarkdownRenderer, 'render'>): string {
  if (!fileOf(env.path).startsWith('docs/reference/')) return md.render(text, env)
  // Headings that are not shown count for the anchors of the others.
  const headings = text.split('\n').filter((line) => /^#{1,6} /.test(line))
  return md.render(headings.join('\n\n'), env).replaceAll(/<h[2456].*?<\/h[2456]>/g, '')
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
