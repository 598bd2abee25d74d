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

const echoParams = { name: 'echo', arguments: { text: expectedText, times: 1 } }

/** A call of the echo tool with the metadata of a real client, about 330 bytes. */
export const echoCall = callOf('tools/call', echoParams, expectedText)

/** Creates a call of revision 2025-06-18. It belongs to no session. */
export function olderCallOf(params: Readonly<Record<string, unknown>>, expected: string): Call {
  return {
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    },
    expected,
  }
}

/** The call of the echo tool in revision 2025-06-18. */
export const olderEchoCall = olderCallOf(echoParams, expectedText)

/** A call of `work` that reports progress a thousand times. */
export const progressCall = withProgress(callOf('tools/call', { name: 'work', arguments: {} }, '"progress":1000'))

/** Adds a token to a call, which asks for its progress. */
export function withProgress(call: Call): Call {
  return { ...call, body: call.body.replace('"_meta":{', '"_meta":{"progressToken":"t",') }
}
