export const appsIdentifier = 'io.modelcontextprotocol/ui'

/** extensions/apps, content requirements. */
export const pageMediaType = 'text/html;profile=mcp-app'
