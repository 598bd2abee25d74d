import { metaKeys, protocolVersion } from '@x/schema'

/** The body of the call that every server gets: about 330 bytes, with what a real client sends. */
export const body = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'echo',
    arguments: { text: 'The quick brown fox jumps over the lazy dog', times: 1 },
    _meta: {
      [metaKeys.protocolVersion]: protocolVersion,
      [metaKeys.clientInfo]: { name: 'bench-client', version: '1.0.0' },
      [metaKeys.clientCapabilities]: { elicitation: {} },
    },
  },
})

/** The headers that the revision requires of that call. */
export const headers: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': protocolVersion,
  'mcp-method': 'tools/call',
  'mcp-name': 'echo',
}

/** What the tool answers, so that a server that fails fast is not taken for a fast one. */
export const expectedText = 'The quick brown fox jumps over the lazy dog'
