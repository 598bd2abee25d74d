import { metaKeys, protocolVersion } from '@x/schema'

/** An HTTP request that a user can send by hand. */
export interface ExampleRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Creates a call of `list_work_items` with every header and field that the protocol requires. */
export function exampleRequest(url: string): ExampleRequest {
  const meta = { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {} }
  const params = { name: 'list_work_items', arguments: { state: 'Active', top: 3 }, _meta: meta }
  return {
    url,
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': protocolVersion,
      'Mcp-Method': 'tools/call',
      'Mcp-Name': params.name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  }
}

/** Formats the request as a `curl` command for a POSIX shell. */
export function curlCommand({ url, headers, body }: ExampleRequest): string {
  const parts = [
    `curl -sS ${url}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    `-d ${quote(body)}`,
  ]
  return parts.join(' \\\n  ')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
