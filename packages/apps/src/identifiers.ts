/** The identifier of the Apps extension. */
export const appsIdentifier = 'io.modelcontextprotocol/ui'

/** The media type of a page (extensions/apps, content requirements). */
export const pageMediaType = 'text/html;profile=mcp-app'
