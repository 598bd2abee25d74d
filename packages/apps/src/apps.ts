import {
  type ExtensionHost,
  type ExtensionInstance,
  type Middleware,
  type ServerExtension,
  type ToolView,
  withContext,
} from '@x/exchange'
import type { ReadResourceResult, Resource } from '@x/schema'
import { pageMeta, type ServedPage } from './app-tool.ts'
import { appsIdentifier, pageMediaType } from './identifiers.ts'
import { declaresPages, showsPages, showsPagesKey } from './shows-pages.ts'

/**
 * Adds Apps to a server (extensions/apps): serves the pages of all tools that `appTool` of this package makes, and
 * lists the tools that only pages may call, for hosts that show pages.
 *
 * @example
 * const server = createServer({ name: 'demo', version: '1.0.0', tools: [weather], extensions: [apps()] })
 */
export function apps(): ServerExtension<'apps'> {
  return {
    extends: 'server',
    name: 'apps',
    identifier: appsIdentifier,
    capabilities: {},
    servesResources: true,
    middleware: markHosts,
    start: servePages,
  }
}

const markHosts: Middleware = (next) => (request, call) =>
  declaresPages(request) ? next(request, withContext(call, showsPagesKey, true)) : next(request, call)

/** A page is the same for every caller, and a release of the server may change it. */
const cacheHints = { ttlMs: 60_000, cacheScope: 'private' } as const

function servePages(host: ExtensionHost): ExtensionInstance<undefined> {
  let pages: ReadonlyMap<string, ServedPage> = new Map()
  let toolsOfPages: readonly ToolView[] | undefined
  const currentPages = (): typeof pages => {
    const tools = host.tools()
    if (tools !== toolsOfPages) pages = pagesOf(tools)
    toolsOfPages = tools
    return pages
  }
  return {
    resources: {
      list: (call) => ({
        resources: showsPages(call) ? [...currentPages().values()].map(toPageResource) : [],
        ...cacheHints,
      }),
      has: (uri) => currentPages().has(uri),
      read: async (uri) => {
        const page = currentPages().get(uri)
        return page && createReadResult(page)
      },
    },
  }
}

function pagesOf(tools: readonly ToolView[]): ReadonlyMap<string, ServedPage> {
  const pages = tools.filter(hasPage).map(({ page }): [string, ServedPage] => [page.uri, page])
  return new Map(pages)
}

function hasPage(tool: ToolView): tool is ToolView & { readonly page: ServedPage } {
  return 'page' in tool && typeof tool.page === 'object' && tool.page !== null && 'uri' in tool.page
}

function toPageResource(page: ServedPage): Resource {
  return { uri: page.uri, name: page.name, mimeType: pageMediaType, _meta: { ui: pageMeta(page) } }
}

async function createReadResult(page: ServedPage): Promise<ReadResourceResult> {
  const { html, uri } = page
  const text = typeof html === 'string' ? html : await html()
  const content = { uri, mimeType: pageMediaType, text, _meta: { ui: pageMeta(page) } }
  return { resultType: 'complete', contents: [content], ...cacheHints }
}
