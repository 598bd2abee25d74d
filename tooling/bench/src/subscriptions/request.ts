import { metaKeys, protocolVersion } from '@x/schema'

/** The headers that the revision requires of a `subscriptions/listen` request. */
export const headers: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': protocolVersion,
  'mcp-method': 'subscriptions/listen',
}

/** Returns the body of a `subscriptions/listen` request for changes of the tools. */
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

/** The text that identifies the acknowledgement in a stream. */
export const acknowledgedMark = 'subscriptions/acknowledged'

/** The text that identifies a change in a stream. */
export const changedMark = 'tools/list_changed'
