/**
 * The search that replaces a long list of tools. It needs the package minisearch.
 *
 * @module @x/exchange/tool-search
 */

export { searchingClients, toolSearch, type ToolSearchOptions } from './search/tool-search.ts'
export type { ToolSearch } from './server/tool-search.ts'
