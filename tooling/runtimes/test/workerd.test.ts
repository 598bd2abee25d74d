import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRuntimeServer } from '../src/server.ts'
import { allPassed, checkServer } from './expected.ts'
import { checkOlderClient } from './older-client.ts'
import type { RunningProgram } from './start-program.ts'
import { startWorkerd } from './workerd.ts'

const clientInfo = { name: 'runtime-client', version: '1.0.0' }

describe.each([
  ['without nodejs_compat', ['enable_request_signal']],
  ['with nodejs_compat', ['enable_request_signal', 'nodejs_compat']],
])('workerd %s', (_, flags) => {
  // One process for all: each test has calls and ids of its own.
  let workerd: RunningProgram
  let url = ''
  beforeAll(async () => {
    workerd = await startWorkerd(flags)
    url = `http://127.0.0.1:${workerd.announced}`
  })
  afterAll(() => workerd?.[Symbol.asyncDispose]())

  test('passes all checks as a server', async () => {
    expect(await checkServer(`${url}/mcp`)).toEqual(allPassed)
  })

  test('serves older clients', async () => {
    expect(await checkOlderClient(`${url}/mcp`, { keepsStreams: false })).toEqual({})
  })

  test('passes all checks as a client', async () => {
    await using http = await serveHttp(createRuntimeServer())
    const response = await fetch(`${url}/?server=${encodeURIComponent(http.url)}`)
    expect(await response.json()).toEqual(allPassed)
  })

  test('passes all checks as a proxy between fetch and a fetch handler', async () => {
    await using http = await serveHttp(createRuntimeServer())
    const proxied = `${url}/mcp?upstream=${encodeURIComponent(http.url)}`
    expect(await checkServer(proxied)).toEqual(allPassed)
  })

  test('cancels an idle handler whose connection was reset', async () => {
    await using connection = connectHttp(`${url}/mcp`)
    await using client = createClient(connection, clientInfo)
    const stateOf = async () => (await client.callTool('state_of', { id: 'reset' })).content[0]
    const socket = connect(Number(workerd.announced), '127.0.0.1', () => socket.write(waitRequest('reset')))
    socket.on('error', () => {})
    await expect.poll(stateOf).toMatchObject({ text: 'running' })
    socket.resetAndDestroy()
    await expect.poll(stateOf).toMatchObject({ text: 'cancelled' })
  })

  test('completes the work that a handler leaves to `waitUntil`, after the response', async () => {
    await using connection = connectHttp(`${url}/mcp`)
    await using client = createClient(connection, clientInfo)
    await client.callTool('background', { id: 'work' })
    const stateOf = async () => (await client.callTool('state_of', { id: 'work' })).content[0]
    await expect.poll(stateOf).toMatchObject({ text: 'finished' })
  })

  test('does not count the time between two requests as a delay of the event loop', async () => {
    await using connection = connectHttp(`${url}/mcp`)
    await using client = createClient(connection, clientInfo)
    await client.callTool('delay')
    // A timer of the first request would fire within this time.
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect((await client.callTool('delay')).content).toEqual([{ type: 'text', text: '0' }])
  })
})

test('the worker of examples/deploy reads its secrets from its bindings, and asks', async () => {
  const entry = fileURLToPath(new URL('../../../examples/deploy/worker.mjs', import.meta.url))
  const keys = '790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef'
  const bindings = { STATE_KEYS: keys, ALLOWED_HOSTS: '127.0.0.1' }
  await using workerd = await startWorkerd(['enable_request_signal'], { entry, bindings })
  await using connection = connectHttp(`http://127.0.0.1:${workerd.announced}/mcp`)
  const elicit = () => ({ action: 'accept', content: { name: 'Ada' } }) as const
  await using client = createClient(connection, { ...clientInfo, elicit })
  expect((await client.callTool('greet')).content).toMatchObject([{ text: 'Hello, Ada!' }])
})

function waitRequest(id: string): string {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { name: 'wait', arguments: { id, progress: false }, _meta: meta }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const headers = [
    'POST /mcp HTTP/1.1',
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'MCP-Protocol-Version: 2026-07-28',
    'Mcp-Method: tools/call',
    'Mcp-Name: wait',
    `Content-Length: ${body.length}`,
  ]
  return `${headers.join('\r\n')}\r\n\r\n${body}`
}
