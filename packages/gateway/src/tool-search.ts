/**
 * The search that replaces a long list of tools. It needs the package minisearch.
 *
 * @module @x/gateway/tool-search
 */

export { searchingClients, type ToolSearch, toolSearch, type ToolSearchOptions } from '@x/exchange/tool-search'
