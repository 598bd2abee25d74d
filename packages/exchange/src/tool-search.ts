/**
 * Puts a search in place of a long list of tools. Needs the package minisearch.
 *
 * @module @x/exchange/tool-search
 */

export { searchingClients, toolSearch, type ToolSearchOptions } from './search/tool-search.ts'
export type { ToolSearch } from './server/tool-search.ts'
