import { metaKeys, protocolVersion } from '@x/schema'

/** A request that a load repeats. */
export interface Call {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** A text of every right response. Its check detects a server that is fast because it fails. */
  readonly expected: string
}

const _meta = {
  [metaKeys.protocolVersion]: protocolVersion,
  [metaKeys.clientInfo]: { name: 'bench-client', version: '1.0.0' },
  [metaKeys.clientCapabilities]: { elicitation: {} },
}

/** Creates a request of any method, with the headers that the revision requires. */
export function callOf(method: string, params: Readonly<Record<string, unknown>>, expected: string): Call {
  const name = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}
  return {
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocolVersion,
      'mcp-method': method,
      ...name,
    },
    expected,
  }
}

/** The text that the echo tool returns. */
export const expectedText = 'The quick brown fox jumps over the lazy dog'

/** A call of the echo tool with the metadata of a real client, about 330 bytes. */
export const echoCall = callOf(
  'tools/call',
  { name: 'echo', arguments: { text: expectedText, times: 1 } },
  expectedText,
)

export const { body, headers } = echoCall

/** The response of a floor to that call. It has the size of the real response. */
export const echoAnswer = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: {
    resultType: 'complete',
    content: [{ type: 'text', text: expectedText }],
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'bench', version: '1.0.0' } },
  },
})
