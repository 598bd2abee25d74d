import type { Log } from '@x/core'
import { type ListToolsResult, type HeaderParam, parseHeaderParams, type Tool, type Icon, type Icons } from '@x/schema'

/** The definition of a tool in the last list, and its arguments that HTTP headers repeat. */
export interface KnownTool {
  readonly tool: Tool
  readonly headerParams: readonly HeaderParam[]
}

/**
 * The tools of the lists that one client has read. If a tool is not in the index, its calls repeat no arguments in HTTP
 * headers.
 */
export interface ToolIndex {
  /** Returns the valid tools of a page, and remembers them. */
  addPage(page: ListToolsResult): readonly Tool[]
  find(name: string): KnownTool | undefined
}

const maxKnownTools = 10_000

/**
 * Creates the index of the tool definitions that calls need. A tool whose `x-mcp-header` annotations break the rules is
 * omitted with a warning. This applies to every transport, so that the list of tools does not depend on the transport
 * (basic/transports/streamable-http, custom headers from tool parameters).
 */
export function createToolIndex(log: Log): ToolIndex {
  // The map is created on first use, because most clients list no tools.
  let knownTools: Map<string, KnownTool> | undefined
  // A page from the cache is already indexed, and is not indexed again.
  let acceptedTools: WeakMap<ListToolsResult, readonly Tool[]> | undefined
  const addTool = (tool: Tool): boolean => {
    knownTools ??= new Map()
    const parsedHeaderParams = parseHeaderParams(tool.inputSchema)
    knownTools.delete(tool.name)
    if ('reason' in parsedHeaderParams) {
      const message = `the tool is left out: ${parsedHeaderParams.reason}`
      log({ level: 'warn', code: 'tool_refused', method: 'tools/list', name: tool.name, message })
      return false
    }
    knownTools.set(tool.name, { tool, headerParams: parsedHeaderParams.params })
    return true
  }
  return {
    addPage: (page) => {
      const earlierTools = acceptedTools?.get(page)
      if (earlierTools) return earlierTools
      const tools = page.tools.filter(addTool).map(withSafeIcons)
      acceptedTools ??= new WeakMap()
      acceptedTools.set(page, tools)
      for (const oldestName of knownTools?.keys() ?? []) {
        if (knownTools === undefined || knownTools.size <= maxKnownTools) break
        knownTools.delete(oldestName)
      }
      return tools
    },
    find: (name) => knownTools?.get(name),
  }
}

/**
 * Returns the item without unsafe icons. The source of a safe icon is an `https:` URL, or a `data:` URL of an image
 * (basic/index, icons). The icons that remain are still untrusted.
 */
export function withSafeIcons<Item extends Icons>(item: Item): Item {
  const { icons } = item
  if (icons === undefined || icons.every(isSafeIcon)) return item
  return { ...item, icons: icons.filter(isSafeIcon) }
}

function isSafeIcon({ src }: Icon): boolean {
  // Browsers skip white space and control characters before the scheme, but this check rejects them.
  return /^https:\/\//i.test(src) || /^data:image\//i.test(src)
}
