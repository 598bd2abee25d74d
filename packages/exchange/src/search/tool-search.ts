import { type OptionTable, resolveOptions } from '@x/core'
import { isJsonObject, metaKeys, type RpcRequest } from '@x/schema'
import type { ToolSearch } from '../server/tool-search.ts'
import { createInnermost, createOutermost } from './search-layers.ts'
import { searchTools } from './search-tools.ts'

/** The options of {@link toolSearch}. */
export interface ToolSearchOptions {
  /** The number of tools above which a list is replaced. A shorter one stays as it is. Default: 60. */
  readonly above?: number | undefined
  /** The number of tools that a search describes. It names ten more. Default: 5. */
  readonly results?: number | undefined
  /** The names of tools that stay listed. Tools with a page stay listed too, because a host shows their page. */
  readonly always?: readonly string[] | undefined
  /**
   * The names of clients that receive the whole list, because they search it themselves. A name that ends with `*` is the
   * beginning of one. Default: `claude-code` and `qwen-cli-mcp-client-*`. The list is then private to its caller.
   */
  readonly directFor?: readonly string[] | undefined
}

/** The clients that search the tools of a server themselves, by the names in their requests (docs/hosts.md). */
export const searchingClients: readonly string[] = ['claude-code', 'qwen-cli-mcp-client-*']

const noNames: readonly string[] = []

const toolSearchOptions = {
  // limit: search of tools | count | tools in a list that stays as it is | the list is replaced by a search
  above: { default: 60, min: 0, max: 100_000 },
  // limit: search of tools | count | definitions in the result of a search | the next ones are named
  results: { default: 5, min: 1, max: 50 },
  always: { default: noNames },
  directFor: { default: searchingClients },
} satisfies OptionTable<ToolSearchOptions>

/**
 * Creates a search that replaces a long list of tools, for the option `toolSearch` of a server or gateway. A model then
 * reads three tools: `search_tools`, and two that call what it finds. A call through them is for every rule, middleware
 * and log a call of the found tool.
 *
 * @example
 * createServer({ name: 'api', version: '1.0.0', tools, toolSearch: toolSearch({ always: ['whoami'] }) })
 *
 * @throws TypeError for an unknown option, RangeError for a number outside of its bounds.
 */
export function toolSearch(options: ToolSearchOptions = {}): ToolSearch {
  const { above, results, always, directFor } = resolveOptions(options, toolSearchOptions, 'toolSearch')
  checkNames({ always, directFor })
  const isDirect = directFor.length === 0 ? undefined : createNameMatch(directFor)
  const settings = { above, results, always: new Set(always), isDirect }
  return {
    names: searchTools.map(({ name }) => name),
    always,
    start: (server) => ({ outermost: createOutermost(server, settings), innermost: createInnermost(server) }),
  }
}

function checkNames(options: Readonly<Record<string, unknown>>): void {
  for (const [option, names] of Object.entries(options))
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string'))
      throw new TypeError(`toolSearch: ${option} must be an array of names`)
}

/** Returns the function that is true for a request of one of the clients. The name of a client is not verified. */
function createNameMatch(names: readonly string[]): (request: RpcRequest) => boolean {
  return ({ params }) => {
    const meta = params?.['_meta']
    const client = isJsonObject(meta) ? meta[metaKeys.clientInfo] : undefined
    const own = isJsonObject(client) ? String(client['name']) : undefined
    return names.some((name) => (name.endsWith('*') ? own?.startsWith(name.slice(0, -1)) : own === name))
  }
}
