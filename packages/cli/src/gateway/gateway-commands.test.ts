import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createCollector } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context, diag, trace } from '@opentelemetry/api'
import { createClient } from '@x/client'
import { openPinFile } from '@x/gateway/node'
import { createServer, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { runCommand } from '../testing/run-command.ts'

const env = { STATE_KEYS: '6d1f3c0a9be84725d0a1c7f2385e6b94fa07d3c85b1e624979c2ad10e8f3465b' }
const protect = { resource: 'https://mcp.example.com/mcp', issuers: ['https://login.example.com'] }
let folder: string
let upstream: HttpServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpx-gateway-'))
  const add = tool('add', { description: 'Adds', run: () => 'added' })
  upstream = await serveHttp(createServer({ name: 'crm', version: '1.0.0', tools: [add], log: () => {} }))
})
afterEach(async () => {
  await upstream.close({ graceMs: 0 })
  await rm(folder, { recursive: true })
})

async function writeConfig(more: object = {}, upstreams: object = {}): Promise<string> {
  const path = join(folder, 'gateway.json')
  const crm = { url: upstream.url, tools: { pins: 'pins.json' } }
  const file = { name: 'company', state: { keys: { env: 'STATE_KEYS' } }, upstreams: { crm, ...upstreams }, ...more }
  await writeFile(path, JSON.stringify(file))
  return path
}

test('gateway alone lists its commands', async () => {
  const { code, out, err } = await runCommand(['gateway'])
  expect([code, out]).toEqual([2, ''])
  for (const command of ['start', 'check', 'accept']) expect(err).toContain(`\n  ${command}`)
})

test('gateway start serves the upstreams of a file', async () => {
  const { code, out } = await runCommand(['gateway', 'start', '--config', await writeConfig(), '--json'], { env })
  expect(code).toBe(0)
  await using connection = connectHttp(JSON.parse(out).url)
  const client = createClient(connection, { name: 'host', version: '1.0.0' })
  expect((await client.callTool('crm__add')).content).toEqual([{ type: 'text', text: 'added' }])
})

test('gateway start sends spans to the collector that the variables of OpenTelemetry name', async () => {
  const received: string[] = []
  const collector = createCollector(async (request, response) => {
    received.push((await request.toArray()).join(''))
    response.end('{}')
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const address = collector.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '10',
    OTEL_METRICS_EXPORTER: 'none',
  }
  // The SDK reads the environment of the process.
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  const args = ['gateway', 'start', '--config', await writeConfig(), '--json']
  const { out } = await runCommand(args, { env: { ...env, ...variables } })
  vi.unstubAllEnvs()
  await using connection = connectHttp(JSON.parse(out).url)
  await createClient(connection, { name: 'host', version: '1.0.0' }).callTool('crm__add')
  // The span of the host's request ends last.
  await expect.poll(() => received.join('')).toContain('"name":"tools/call crm__add"')
  for (const api of [trace, context, diag]) api.disable()
  expect(received.join('')).toContain('"dev.x.upstream"')
  expect(received.join('')).toMatch(/"service\.name","value":\{"stringValue":"company"/)
  collector.close()
})

test('gateway check names each upstream with its tools, or with what is wrong', async () => {
  const misspelt = { url: upstream.url, tools: { deny: ['ad'] } }
  const config = await writeConfig({}, { hr: { url: 'http://127.0.0.1:1/mcp' }, misspelt })
  const { code, json } = await runCommand(['gateway', 'check', '--config', config, '--json'], { env })
  expect([code, json()]).toEqual([
    1,
    {
      upstreams: [
        { upstream: 'crm', tools: 1, problem: null },
        { upstream: 'hr', tools: 0, problem: expect.stringContaining('ECONNREFUSED') },
        {
          upstream: 'misspelt',
          tools: 1,
          problem: 'These rules match no tool of misspelt, and have no effect: deny "ad"',
        },
      ],
    },
  ])
  const { out } = await runCommand(['gateway', 'check', '--config', config], { env })
  expect(out).toMatch(/crm +1 tool\nhr +\S/)
})

test('gateway check waits for an upstream that starts slowly, and answers one that asks for roots', async () => {
  const program = `
    import { createInterface } from 'node:readline'
    await new Promise((resolve) => setTimeout(resolve, 6000))
    const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
    let show
    const tools = new Promise((resolve) => (show = resolve))
    for await (const line of createInterface({ input: process.stdin })) {
      const { id, method, result } = JSON.parse(line)
      const serverInfo = { name: 'own', version: '1' }
      if (method === 'initialize')
        send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } })
      else if (method === 'notifications/initialized') send({ id: 'roots', method: 'roots/list' })
      else if (id === 'roots') show(result?.roots ? [{ name: 'find', inputSchema: { type: 'object' } }] : [])
      else if (method === 'tools/list') tools.then((tools) => send({ id, result: { tools } }))
      else if (id !== undefined) send({ id, error: { code: -32601, message: 'Method not found' } })
    }`
  await writeFile(join(folder, 'slow.mjs'), program)
  const config = await writeConfig({}, { slow: { command: process.execPath, args: ['slow.mjs'] } })
  const { code, json, err } = await runCommand(['gateway', 'check', '--config', config, '--json'], { env })
  expect(json()).toMatchObject({ upstreams: [{ upstream: 'crm' }, { upstream: 'slow', tools: 1, problem: null }] })
  expect([code, err]).toEqual([0, expect.stringMatching(/^mcpx: waiting for slow: no answer to \S+ yet\n$/)])
})

test('gateway check does not ask an upstream at which each caller has a credential of its own', async () => {
  const auth = { tokenExchange: { issuer: 'https://login.example.com', id: 'gateway', secret: { env: 'STATE_KEYS' } } }
  const config = await writeConfig({ listen: { protect } }, { hr: { url: 'http://127.0.0.1:1/mcp', auth } })
  const { code, out } = await runCommand(['gateway', 'check', '--config', config], { env })
  expect([code, out]).toEqual([0, expect.stringContaining('not asked: each caller has a credential of its own')])
})

test('gateway accept removes the digest of a changed tool', async () => {
  const pins = join(folder, 'pins.json')
  await openPinFile(pins).storeOf('crm').add('add', 'a'.repeat(64))
  const checked = await runCommand(['gateway', 'check', '--config', await writeConfig()], { env })
  expect([checked.code, checked.out]).toEqual([
    1,
    expect.stringMatching(/tool add has changed.*: mcpx gateway accept crm /),
  ])
  const args = ['gateway', 'accept', 'crm', 'add', '--pins', pins]
  expect(await runCommand(args)).toMatchObject({ code: 0, out: 'The next definition of add is accepted.\n' })
  expect(await openPinFile(pins).storeOf('crm').get('add')).toBeUndefined()
  expect(await runCommand(args)).toMatchObject({ code: 1, err: expect.stringContaining('has no tool add') })
  await openPinFile(pins).storeOf('crm').add('find', 'a'.repeat(64))
  for (const [upstream, pinsPath, message] of [
    ['crm', pins, 'has no tool add of the upstream crm; it has find'],
    ['crn', pins, 'has no upstream crn; it has crm'],
    ['crm', join(folder, 'absent.json'), 'The pins file cannot be read: ENOENT'],
  ] as const) {
    const { code, err } = await runCommand(['gateway', 'accept', upstream, 'add', '--pins', pinsPath])
    expect([code, err]).toEqual([pinsPath === pins ? 1 : 2, expect.stringContaining(message)])
  }
})

test('a file with problems is wrong usage, and all of them are named without a stack trace', async () => {
  const config = await writeConfig({ version: 7, extra: true })
  const { code, err } = await runCommand(['gateway', 'start', '--config', config], { env })
  expect(code).toBe(2)
  expect(err).toMatch(
    /cannot be used:\n  - version: .*\n  - Unrecognized key: "extra"; the members are name, version, state,/,
  )
  expect(err).not.toContain(' at ')
  const missing = await runCommand(['gateway', 'start', '--config', await writeConfig()], { env: {} })
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('the variable STATE_KEYS is not set')])
  const absent = await runCommand(['gateway', 'start', '--config', join(folder, 'absent.json')], { env })
  expect([absent.code, absent.err]).toEqual([
    2,
    expect.stringContaining('(ENOENT); give the path of a JSON file with "upstreams"'),
  ])
})

test('an address for other machines without a verification of callers is a problem of the file', async () => {
  const config = await writeConfig({ listen: { host: '0.0.0.0', allowedHosts: ['mcp.example.com'] } })
  for (const command of ['check', 'start']) {
    const { code, err } = await runCommand(['gateway', command, '--config', config], { env })
    expect([code, err]).toEqual([2, expect.stringMatching(/cannot be used:\n  - listen: .* add protect, .*\n$/)])
  }
})

test.each([
  [
    'in use',
    () => ({ port: Number(new URL(upstream.url).port) }),
    / is in use: stop what listens there, or give another listen\.port/,
  ],
  ['of another machine', () => ({ host: '192.0.2.1', allowedHosts: ['a'], protect }), /192\.0\.2\.1.* cannot be bound/],
])('an address %s is a failure without a stack trace', async (_, listenOf, message) => {
  const config = await writeConfig({ listen: listenOf() })
  const { code, err } = await runCommand(['gateway', 'start', '--config', config], { env })
  expect([code, err]).toEqual([1, expect.stringMatching(message)])
  expect(err).not.toMatch(/ at |fault of mcpx/)
})
