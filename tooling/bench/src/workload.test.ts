import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '@tooling/real-servers/free-port'
import { type RealRedis, startRedis } from '@tooling/real-servers/redis'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProducts, findWrongAnswer, seedRedis } from './workload-calls.ts'

const example = fileURLToPath(new URL('../../../examples/benchmark-mcp-servers/server.mjs', import.meta.url))

let folder: string
let redis: RealRedis
let service: ReturnType<typeof createProducts>
let server: ChildProcess
let url: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'benchmark-row-'))
  const [redisPort, port] = [await findFreePort(), await findFreePort()]
  redis = await startRedis('redis-server', ['--port', String(redisPort), '--appendonly', 'no'])
  await seedRedis(redis.path)
  service = createProducts().listen(0, '127.0.0.1')
  await once(service, 'listening')
  const { port: servicePort } = service.address() as AddressInfo
  server = spawn(process.execPath, [await bundleExample()], {
    stdio: 'inherit',
    env: {
      ...process.env,
      PORT: String(port),
      REDIS_URL: `redis://127.0.0.1:${redisPort}`,
      API_SERVICE_URL: `http://127.0.0.1:${servicePort}`,
      SERVER_TYPE: 'row',
      WEB_CONCURRENCY: '2',
    },
  })
  url = `http://127.0.0.1:${port}/mcp`
})

afterAll(async () => {
  const ended = once(server, 'exit')
  server.kill()
  await ended
  service.close()
  await redis.close()
  await rm(folder, { recursive: true })
})

interface ToolList {
  readonly result: { readonly tools: readonly { readonly name: string }[] }
}

/** Bundles the example, because its folder has no packages of its own. */
async function bundleExample(): Promise<string> {
  const outfile = join(folder, 'server.mjs')
  await build({
    entryPoints: [example],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    nodePaths: [fileURLToPath(new URL('../node_modules', import.meta.url))],
    // CommonJS packages call `require`.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
    logLevel: 'error',
  })
  return outfile
}

async function readHealth(): Promise<unknown> {
  const response = await fetch(new URL('/health', url)).catch(() => undefined)
  return response?.json()
}

/** Sends a message as the scripts of the public benchmark do, over any connection. */
async function post(message: object, session?: string): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
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

test('the check of a response reports an error', () => {
  const message = '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"No"}}'
  expect(findWrongAnswer('search_products', 200, message)).toContain('-32603')
})
