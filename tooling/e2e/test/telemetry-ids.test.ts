import { createHash } from 'node:crypto'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type RecordedPoint, recordTelemetry } from '@tooling/vitest/telemetry-recorder'
import { createClient } from '@x/client'
import { telemetry as clientTelemetry } from '@x/client/otel'
import { connectAny } from '@x/legacy/client'
import { legacy } from '@x/legacy'
import type { LogRecord } from '@x/core'
import { createServer, tool } from '@x/server'
import { callLog } from '@x/server/log'
import { telemetry } from '@x/server/otel'
import { tasksClient } from '@x/tasks/client'
import { memoryEngine } from '@x/tasks/memory'
import { tasks } from '@x/tasks/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'

const info = { name: 'demo', version: '1.0.0' }
const greet = tool('greet', { description: 'Greets', run: () => 'Hello' })
const failing = tool('failing', {
  description: 'Fails in the background',
  task: 'required',
  run: () => {
    throw new Error('The database is unreachable')
  },
})

function serve(log: (record: LogRecord) => void) {
  const extensions = [telemetry(), callLog({ log }), tasks({ store: memoryEngine() }), legacy()]
  return serveHttp(createServer({ ...info, tools: [greet, failing], log, extensions }))
}

test('the requests of an official older client have its methods and its revision [ROB-016]', async () => {
  using recorder = recordTelemetry()
  await using http = await serve(() => {})
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

test('no span, metric or log has the id of a task, and the digest joins them [ROB-015]', async () => {
  using recorder = recordTelemetry()
  const records: LogRecord[] = []
  await using http = await serve((record) => void records.push(record))
  const ids: string[] = []
  const follow = tasksClient({ polling: { defaultMs: 20, minMs: 5 }, onTask: ({ taskId }) => void ids.push(taskId) })
  await using connection = connectHttp(http.url)
  const client = createClient(connection, { ...info, extensions: [clientTelemetry(), follow] })
  expect(await client.callTool('failing')).toMatchObject({ isError: true })
  const spans = recorder
    .spans()
    .map(({ name, attributes, events, links, status }) => ({ name, attributes, events, links, status }))
  const text = JSON.stringify([spans, await recorder.points(), records, records.map(({ err }) => String(err))])
  const [id = 'no task'] = ids
  expect(ids).toHaveLength(1)
  expect(text).not.toContain(id)
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 16)
  expect(records.filter(({ err }) => err !== undefined)).toMatchObject([
    { level: 'error', taskId: digest, requestId: digest },
  ])
  expect(spans.filter(({ attributes }) => attributes['jsonrpc.request.id'] === digest)).toHaveLength(1)
})

test('a client records the revision of an older server [ROB-016]', async () => {
  using recorder = recordTelemetry()
  await using http = await serveHttp(createServer({ ...info, tools: [greet], extensions: [legacy()] }))
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
