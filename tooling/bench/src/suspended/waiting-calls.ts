import { callOf } from '../http/call.ts'
import type { FetchHandler, WaitingServer } from './waiting-servers.ts'

/** What the client of a waiting call keeps: the open response of an older revision. */
export type WaitingCall = object

const url = 'http://localhost:3000/mcp'
const toolCall = callOf('tools/call', { name: 'ask', arguments: { order: 4522 } }, 'input_required')
const initializeParams = {
  protocolVersion: '2025-11-25',
  capabilities: { elicitation: { form: {} } },
  clientInfo: { name: 'bench-client', version: '1.0.0' },
}

/** Makes a call of one user that waits for its answer. Throws if the server did not ask. */
export function makeWaitingCall(
  handler: FetchHandler,
  revision: WaitingServer['revision'],
  user: number,
): Promise<WaitingCall> {
  return revision === '2026-07-28' ? askCurrent(handler, user) : askInSession(handler, user)
}

async function askCurrent(handler: FetchHandler, user: number): Promise<WaitingCall> {
  const headers = { ...toolCall.headers, host: 'localhost:3000', 'x-user': `user-${user}` }
  const response = await handler(new Request(url, { method: 'POST', headers, body: toolCall.body }))
  requireText(await response.text(), toolCall.expected)
  // The response is complete, so neither side keeps anything.
  return {}
}

/** A call of 2025-11-25, in a session of its own. The question comes in the open response of the call. */
async function askInSession(handler: FetchHandler, user: number): Promise<WaitingCall> {
  const post = (body: object, more: Readonly<Record<string, string>> = {}): Promise<Response> => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      host: 'localhost:3000',
      'x-user': `user-${user}`,
      ...more,
    }
    return handler(new Request(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...body }) }))
  }
  const opened = await post({ id: 0, method: 'initialize', params: initializeParams })
  requireText(await opened.text(), '2025-11-25')
  const session = {
    'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-11-25',
  }
  await (await post({ method: 'notifications/initialized' }, session)).text()
  const params = { name: 'ask', arguments: { order: 4522 } }
  const response = await post({ id: 1, method: 'tools/call', params }, session)
  const reader = response.body?.getReader()
  let text = ''
  while (reader !== undefined && !text.includes('elicitation/create')) {
    const { done, value } = await reader.read()
    if (done) break
    text += new TextDecoder().decode(value)
  }
  requireText(text, 'elicitation/create')
  return { response, reader }
}

function requireText(text: string, expected: string): void {
  if (!text.includes(expected))
    throw new Error(`the server must answer with ${expected}, and answered ${text.slice(0, 300)}`)
}
