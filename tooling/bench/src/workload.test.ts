import { fileURLToPath } from 'node:url'
import { findFreePort } from '@tooling/real-servers/free-port'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startProgram } from './processes.ts'
import { findWrongAnswer, startServices } from './workload-calls.ts'

const started: AsyncDisposable[] = []
let url: string

beforeAll(async () => {
  const services = await startServices()
  started.push(services)
  const port = await findFreePort()
  url = `http://127.0.0.1:${port}/mcp`
  const own = { PORT: String(port), SERVER_TYPE: 'row', WEB_CONCURRENCY: '2' }
  const run = ['--conditions=dist', fileURLToPath(new URL('../dist/example/server.mjs', import.meta.url))]
  started.push(await startProgram('the example', { run, environment: { ...services.environment, ...own } }))
})

afterAll(async () => {
  for (const one of started.toReversed()) await one[Symbol.asyncDispose]()
})

interface ToolList {
  readonly result: { readonly tools: readonly { readonly name: string }[] }
}

async function readHealth(): Promise<unknown> {
  const response = await fetch(new URL('/health', url)).catch(() => undefined)
  return response?.json()
}

/** Sends a message as the scripts of the public benchmark do, over any connection. */
async function post(message: object, session = ''): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session !== '' && { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  })
}

test('the example passes the validation of the public benchmark, with two workers', async () => {
  await expect.poll(readHealth).toEqual({ status: 'ok' })
  const clientInfo = { name: 'test-client', version: '1.0.0' }
  const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo }
  const opened = await post({ id: 1, method: 'initialize', params })
  const session = opened.headers.get('mcp-session-id') ?? ''
  expect(await opened.json()).toMatchObject({ result: { serverInfo: { name: 'shop' } } })
  expect((await post({ method: 'notifications/initialized' }, session)).status).toBe(202)

  const listed = (await (await post({ id: 2, method: 'tools/list', params: {} }, session)).json()) as ToolList
  const names = listed.result.tools.map(({ name }) => name)
  expect(names.toSorted()).toEqual(['checkout', 'get_user_cart', 'search_products'])

  // The calls have no arguments, so the defaults of the contract apply.
  for (const name of names) {
    const called = await post({ id: 3, method: 'tools/call', params: { name, arguments: {} } }, session)
    const message = await called.text()
    expect(findWrongAnswer(name, called.status, message)).toBeUndefined()
    expect(JSON.parse(JSON.parse(message).result.content[0].text).server_type).toBe('row')
  }

  const ended = await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': session } })
  expect(ended.ok).toBe(true)
})
