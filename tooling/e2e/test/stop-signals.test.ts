import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { createClient, type Client } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { buildMcpx, type Mcpx } from './mcpx.ts'
import { textOf } from '../src/hop/checks.ts'

let program: ChildProgram
let mcpx: Mcpx
/** Answers the calls that wait when a test ends them. */
let gate: Server
const endCalls: (() => void)[] = []

beforeAll(async () => {
  gate = createServer((_, response) => void endCalls.push(() => response.end('released'))).listen(0, '127.0.0.1')
  ;[program, mcpx] = await Promise.all([
    bundleProgram(new URL('programs/stopping-gateway.ts', import.meta.url)),
    buildMcpx(),
  ])
  const file = {
    name: 'company',
    state: { keys: { env: 'STATE_KEYS' } },
    listen: { port: 0 },
    upstreams: { up: { command: process.execPath, args: [program.path, '60000'] } },
  }
  await writeFile(configPath(), JSON.stringify(file))
})
afterAll(async () => {
  gate.close()
  gate.closeAllConnections()
  await program[Symbol.asyncDispose]()
  await mcpx[Symbol.asyncDispose]()
})

const stateKey = '790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef'

const configPath = (): string => join(dirname(program.path), 'gateway.json')

type Mode = 'gateway' | 'proxy' | 'hasty' | 'bridge' | 'mcpx'

function argumentsFor(mode: Mode): readonly string[] {
  return mode === 'mcpx' ? [mcpx.path, 'gateway', 'start', '--config', configPath()] : [program.path, mode]
}

interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<unknown[]>
  readonly client: Client
  readonly toolPrefix: string
  readonly running: ReturnType<Client['callTool']>
  /** Resolves when balancers and new calls see that the process stops. */
  readonly stopping: () => Promise<void>
}

/** Starts a gateway, proxy or bridge whose upstream is a child process, with a running call. */
async function start(mode: Mode): Promise<Started> {
  // The upstream inherits stderr, so `close` says that no process of the gateway runs any more.
  const env = { ...process.env, STATE_KEYS: stateKey }
  const child = spawn(process.execPath, argumentsFor(mode), { stdio: ['ignore', 'pipe', 'pipe'], env })
  const ended = once(child, 'close')
  const failed = ended.then((end) => Promise.reject(new Error(`It ended with ${end} before it served`)))
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), failed])
  failed.catch(() => {})
  const url = String(line)
  const client = createClient(connectHttp(url), { name: 'host', version: '1.0.0', maxResendMs: 0 })
  const toolPrefix = mode === 'gateway' || mode === 'mcpx' ? 'up__' : ''
  const running = await startWaiting(client, `${toolPrefix}wait`)
  const stopping = (): Promise<void> =>
    expect.poll(async () => (await fetch(new URL('/readyz', url)).catch(() => undefined))?.ok ?? false).toBe(false)
  return { child, ended, client, toolPrefix, ...running, stopping }
}

/** Resolves when the upstream runs the call. */
async function startWaiting(
  client: Client,
  name: string,
): Promise<{ readonly running: ReturnType<Client['callTool']> }> {
  const arrived = once(gate, 'request')
  const running = client.callTool(name, { url: gateUrl() })
  running.catch(() => {})
  await Promise.race([arrived, running])
  return { running }
}

function gateUrl(): string {
  const address = gate.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

function endAllCalls(): void {
  for (const end of endCalls.splice(0)) end()
}

test.each([
  ['gateway', 'SIGTERM', 'pong'],
  ['proxy', 'SIGINT', 'pong'],
  // Without a notice, new calls are refused at once.
  ['bridge', 'SIGINT', undefined],
  ['mcpx', 'SIGTERM', undefined],
] as const)(
  '%s with a child process lets running calls end after %s, serves others during a notice, and exits with 0 [ROB-001 ROB-002]',
  async (mode, signal, duringNotice) => {
    const { child, ended, client, toolPrefix, running, stopping } = await start(mode)
    child.kill(signal)
    // As `npx` and `pnpm exec` do with a Ctrl-C.
    child.kill(signal === 'SIGINT' ? 'SIGTERM' : 'SIGINT')
    await stopping()
    const other = await client.callTool(`${toolPrefix}ping`).then(textOf, () => undefined)
    expect(other).toBe(duringNotice)
    endAllCalls()
    expect(textOf(await running)).toBe('released')
    expect(await ended).toEqual([0, null])
  },
)

test('a call that does not end within the grace fails, and the process exits with 0 [ROB-001]', async () => {
  const { child, ended, running } = await start('hasty')
  child.kill('SIGTERM')
  await expect(running).rejects.toThrow('The server is stopping')
  expect(await ended).toEqual([0, null])
})

test.each(['proxy', 'bridge', 'mcpx'] as const)(
  'a second signal ends %s and its child processes at once, with the signal [ROB-001]',
  async (mode) => {
    const { child, ended, running, stopping } = await start(mode)
    child.kill('SIGTERM')
    await stopping()
    // The first ones may be too early to be a second signal.
    await expect.poll(() => child.kill('SIGINT')).toBe(false)
    await expect(running).rejects.toBeInstanceOf(Error)
    expect(await ended).toEqual([null, 'SIGINT'])
  },
)

test('a proxy over stdio with a child process and a running call exits with 0 after a signal [ROB-001]', async () => {
  const child = spawn(process.execPath, [program.path, 'stdio'], { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  const arrived = once(gate, 'request')
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { name: 'wait', arguments: { url: gateUrl() }, _meta }
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`)
  await arrived
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})
