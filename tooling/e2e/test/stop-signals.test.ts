import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createClient, type Client } from '@x/client'
import type { CallToolResult } from '@x/schema'
import { connectHttp } from '@x/transport-http/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { textOf } from '../src/hop/checks.ts'

let program: ChildProgram

beforeAll(async () => {
  program = await bundleProgram(new URL('programs/stopping-gateway.ts', import.meta.url))
})
afterAll(() => program[Symbol.asyncDispose]())

/** Starts a gateway or proxy whose upstream is a child process, with a running call. */
async function start(mode: 'gateway' | 'proxy'): Promise<{
  readonly child: ChildProcess
  readonly ended: Promise<unknown[]>
  readonly client: Client
  readonly toolPrefix: string
  readonly running: Promise<CallToolResult>
}> {
  // The upstream inherits stderr, so `close` says that no process of the gateway runs any more.
  const child = spawn(process.execPath, [program.path, mode], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [url] = await once(createInterface({ input: child.stdout }), 'line')
  const client = createClient(connectHttp(String(url)), { name: 'host', version: '1.0.0' })
  const toolPrefix = mode === 'gateway' ? 'up__' : ''
  await client.listTools()
  const running = client.callTool(`${toolPrefix}wait`)
  running.catch(() => {})
  return { child, ended: once(child, 'close'), client, toolPrefix, running }
}

test.each([
  ['gateway', 'SIGTERM'],
  ['gateway', 'SIGINT'],
  ['proxy', 'SIGTERM'],
] as const)(
  'a %s with a child process serves calls during the notice after %s, lets running ones end, and exits with 0 [ROB-001 ROB-002]',
  async (mode, signal) => {
    const { child, ended, client, toolPrefix, running } = await start(mode)
    child.kill(signal)
    await client.callTool(`${toolPrefix}release`)
    expect(textOf(await running)).toBe('released')
    expect(await ended).toEqual([0, null])
  },
)

test('a second signal ends a gateway and its child processes at once, with the signal [ROB-001]', async () => {
  const { child, ended, running } = await start('gateway')
  child.kill('SIGTERM')
  child.kill('SIGINT')
  await expect(running).rejects.toBeInstanceOf(Error)
  expect(await ended).toEqual([null, 'SIGINT'])
})

test('a proxy over stdio with a child process exits with 0 after a signal [ROB-001]', async () => {
  const child = spawn(process.execPath, [program.path, 'stdio'], { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } })}\n`)
  expect(await once(createInterface({ input: child.stdout }), 'line')).toEqual([expect.stringContaining('release')])
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})
