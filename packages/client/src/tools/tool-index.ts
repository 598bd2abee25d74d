import type { Log } from '@x/core'
import { type ListToolsResult, type HeaderParam, parseHeaderParams, type Tool, type Icon, type Icons } from '@x/schema'

/** A tool as last listed, and those of its arguments that HTTP headers repeat. */
export interface KnownTool {
  readonly tool: Tool
  readonly headerParams: readonly HeaderParam[]
}

/**
 * Tools of the lists that one client has read. Calls of a tool that is not in the index repeat no arguments in HTTP
 * headers.
 */
export interface ToolIndex {
  /** Remembers a page's tools, and returns the valid ones. */
  addPage(page: ListToolsResult): readonly Tool[]
  find(name: string): KnownTool | undefined
}

const maxKnownTools = 10_000

/**
 * Indexes the tool definitions that calls need. A tool whose `x-mcp-header` annotations break the rules is omitted with
 * a warning, over every transport, so that the list of tools does not depend on it (basic/transports/streamable-http,
 * custom headers from tool parameters).
 */
export function createToolIndex(log: Log): ToolIndex {
  // Created on first use, because most clients list no tools.
  let knownTools: Map<string, KnownTool> | undefined
  // A page from the cache is in the index already.
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
 * Removes unsafe icons: a safe one comes from an `https:` URL, or a `data:` URL of an image (basic/index, icons). What
 * remains is still untrusted.
 */
export function withSafeIcons<Item extends Icons>(item: Item): Item {
  const { icons } = item
  if (icons === undefined || icons.every(isSafeIcon)) return item
  return { ...item, icons: icons.filter(isSafeIcon) }
}

function isSafeIcon({ src }: Icon): boolean {
  // Browsers skip white space and control characters before the scheme; this check rejects them.
  return /^https:\/\//i.test(src) || /^data:image\//i.test(src)
}
