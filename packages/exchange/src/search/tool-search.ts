import { type OptionTable, resolveOptions } from '@x/core'
import { isJsonObject, metaKeys, type RpcRequest } from '@x/schema'
import type { ToolSearch } from '../server/tool-search.ts'
import { createInnermost, createOutermost } from './search-layers.ts'
import { searchTools } from './search-tools.ts'

/** The options of {@link toolSearch}. */
export interface ToolSearchOptions {
  /** A list of more tools than this is replaced. A shorter one stays as it is. Default: 60. */
  readonly above?: number | undefined
  /** How many tools a search describes. It names ten more. Default: 5. */
  readonly results?: number | undefined
  /** Names of tools that stay listed. Tools with a page stay listed too, because a host shows their page. */
  readonly always?: readonly string[] | undefined
  /**
   * Names of clients that receive the whole list, because they search it themselves. A name that ends with `*` is the
   * beginning of one. Default: `claude-code` and `qwen-cli-mcp-client-*`. The list is then private to its caller.
   */
  readonly directFor?: readonly string[] | undefined
}

/** Clients that search a server's tools themselves, by the names in their requests (docs/hosts.md). */
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
 * Puts a search in place of a long list of tools: pass it to a server or gateway as `toolSearch`. A model then reads
 * three tools: `search_tools`, and two that call what it finds. For every rule, middleware and log, a call through them
 * is a call of the found tool.
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

/** A client's name is not verified. */
function createNameMatch(names: readonly string[]): (request: RpcRequest) => boolean {
  return ({ params }) => {
    const meta = params?.['_meta']
    const client = isJsonObject(meta) ? meta[metaKeys.clientInfo] : undefined
    const own = isJsonObject(client) ? String(client['name']) : undefined
    return names.some((name) => (name.endsWith('*') ? own?.startsWith(name.slice(0, -1)) : own === name))
  }
}
