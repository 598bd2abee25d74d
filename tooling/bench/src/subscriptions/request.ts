import { metaKeys, protocolVersion } from '@x/schema'

/** The headers that the revision requires of a `subscriptions/listen` request. */
export const headers: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': protocolVersion,
  'mcp-method': 'subscriptions/listen',
}

/** The body of one: it listens for changes of the tools. */
export function bodyOf(id: number): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'subscriptions/listen',
    params: {
      notifications: { toolsListChanged: true },
      _meta: {
        [metaKeys.protocolVersion]: protocolVersion,
        [metaKeys.clientInfo]: { name: 'bench-client', version: '1.0.0' },
        [metaKeys.clientCapabilities]: {},
      },
    },
  })
}

/** What marks the acknowledgement in a stream's text. */
export const acknowledgedMark = 'subscriptions/acknowledged'

/** What marks a change in a stream's text. */
export const changedMark = 'tools/list_changed'
