import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type RecordedPoint, recordTelemetry } from '@tooling/vitest/telemetry-recorder'
import { createClient } from '@x/client'
import { telemetry as clientTelemetry } from '@x/client/otel'
import { legacy } from '@x/legacy'
import { connectAny } from '@x/legacy/client'
import { createServer, type McpServer, tool } from '@x/server'
import { telemetry } from '@x/server/otel'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'

const info = { name: 'demo', version: '1.0.0' }
const greet = tool('greet', { description: 'Greets', run: () => 'Hello' })

function serve(): McpServer {
  return createServer({ ...info, tools: [greet], log: () => {}, extensions: [telemetry(), legacy()] })
}

test('the requests of an official older client have its methods and its revision [ROB-016]', async () => {
  using recorder = recordTelemetry()
  await using http = await serveHttp(serve())
  const client = new Client({ name: 'v1', version: '1.0.0' })
  // The types of the SDK reject its own transport under exactOptionalPropertyTypes.
  await client.connect(new StreamableHTTPClientTransport(new URL(http.url)) as Parameters<Client['connect']>[0])
  await client.listTools()
  await client.callTool({ name: 'greet' })
  await client.close()
  const durations = (await recorder.points()).filter(({ name }) => name === 'mcp.server.operation.duration')
  // The stream of the client asks the server for its capabilities, before or after its first calls.
  const isCall = ({ attributes }: RecordedPoint): boolean => attributes['mcp.method.name'] !== 'server/discover'
  const recorded = durations
    .filter(isCall)
    .map(({ attributes }) => [attributes['mcp.method.name'], attributes['mcp.protocol.version']])
  expect(recorded).toEqual([
    ['initialize', '2025-11-25'],
    ['tools/list', '2025-11-25'],
    ['tools/call', '2025-11-25'],
  ])
})

test('a client records the revision of an older server [ROB-016]', async () => {
  using recorder = recordTelemetry()
  await using http = await serveHttp(createServer({ ...info, tools: [greet], log: () => {}, extensions: [legacy()] }))
  // Only the handshake of older revisions is let through, as at a server that knows no other.
  await using connection = connectAny(http.url, {
    http: {
      fetch: async (url, init) => {
        const isOlder = new Headers(init?.headers).get('mcp-protocol-version') !== '2026-07-28'
        return isOlder ? fetch(url, init) : new Response('Bad Request', { status: 400 })
      },
    },
  })
  await createClient(connection, { ...info, extensions: [clientTelemetry()] }).callTool('greet')
  const revisions = recorder.spans().map(({ attributes }) => attributes['mcp.protocol.version'])
  expect(new Set(revisions)).toEqual(new Set(['2025-11-25']))
})
