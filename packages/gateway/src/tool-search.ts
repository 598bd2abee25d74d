/**
 * Replaces a long list of tools by a search. It needs the package minisearch.
 *
 * @module @x/gateway/tool-search
 */

export { searchingClients, type ToolSearch, toolSearch, type ToolSearchOptions } from '@x/exchange/tool-search'
