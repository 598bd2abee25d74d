import { fileURLToPath } from 'node:url'
import { createClient } from '@x/client'
import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import { connectAny } from '../connect-node.ts'
import type { ConnectAnyOptions } from '../options.ts'
import type { CommandEntry } from '../target.ts'

const program = fileURLToPath(new URL('../../../test/stdio-server.mjs', import.meta.url))
const host = { name: 'host', version: '1.2.3' }

function connect(args: readonly string[], options: ConnectAnyOptions = {}, entry: Partial<CommandEntry> = {}) {
  const heard: string[] = []
  const connection = connectAny(
    { command: process.execPath, args: [program, ...args], ...entry },
    { ...options, stdio: { stderr: (line) => heard.push(line), graceMs: 500 } },
  )
  const client = createClient(connection.exchange, {
    ...host,
    elicit: () => ({ action: 'accept', content: { name: 'Grace' } }),
  })
  const methods = (): string[] => heard.map((line) => line.split(' ', 1)[0] ?? '')
  return { connection, client, methods, heard }
}

test('a server that answers the probe with an error receives initialize in the same process [STD-016 STD-018]', async () => {
  const { connection, client, methods } = connect(['answers'])
  await client.listTools()
  const peer = { revision: '2025-11-25', info: { name: 'plain' }, namesCalls: false }
  expect(connection.peer).toMatchObject(peer)
  await expect.poll(methods).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])
  expect(connection.process?.restartCount).toBe(0)
  await connection.close()
})

test('a server that exits at the probe gets a new process, which receives initialize first [LEG-085 STD-018]', async () => {
  const detectedRevisions = new Map<string, string>()
  const { connection, client, methods } = connect(['exits', '2025-06-18'], { detectedRevisions })
  await Promise.all([client.listTools(), client.discover()])
  await expect.poll(methods).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])
  expect(connection.peer).toMatchObject({ revision: '2025-06-18' })
  await connection.close()

  const again = connect(['exits', '2025-06-18'], { detectedRevisions })
  await again.client.listTools()
  await expect.poll(() => again.methods()[0]).toBe('initialize')
  await again.connection.close()
})

test('a server that is silent after the probe gets a new process once a slow one would have started, after a minute [LEG-085]', async () => {
  const runtime = manualClock()
  const { connection, client, methods } = connect(['breaks', '2025-06-18'], { runtime })
  const tools = client.listTools()
  await expect.poll(methods).toEqual(['server/discover'])
  runtime.advance(5000)
  await expect.poll(methods).toEqual(['server/discover', 'initialize'])
  runtime.advance(59_999)
  // The limit of `initialize` has not passed.
  expect(runtime.waiting).toBe(1)
  runtime.advance(1)
  expect(await tools).toEqual([])
  await expect
    .poll(() => methods().slice(1))
    .toEqual(['initialize', 'initialize', 'notifications/initialized', 'tools/list'])
  await connection.close()
})

test('a server that does not answer the probe receives initialize in the same process [LEG-085 LEX-004]', async () => {
  const { connection, client, methods } = connect(['silent', '2024-11-05'], { probeTimeoutMs: 1000 })
  await client.listTools()
  await expect.poll(methods).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])
  expect(connection.peer).toMatchObject({ revision: '2024-11-05' })
  expect(connection.process?.restartCount).toBe(0)
  await connection.close()
})

test('a revision that this client does not speak has the same code as over HTTP', async () => {
  const { connection, client } = connect(['answers', '2023-01-01'])
  await expect(client.listTools()).rejects.toMatchObject({ code: 'unsupported_version' })
  await connection.close()
})

test('a modern server that is slow at the probe is found to be one [LEG-083]', async () => {
  const { connection, client, methods } = connect(['slow'], { probeTimeoutMs: 50 })
  await client.discover()
  expect(connection.peer).toEqual({ revision: '2026-07-28' })
  await expect.poll(methods).toContain('initialize')
  await connection.close()
})

test('a program that cannot be started, or ends either way, is an error [LEG-084]', async () => {
  const none = connect([], {}, { command: 'no-such-program' })
  await expect(none.client.listTools()).rejects.toMatchObject({ code: 'transport' })
  const broken = connect([], {}, { args: ['-e', 'process.exit(9)'] })
  await expect(broken.client.listTools()).rejects.toThrow('code 9')
  expect(broken.connection.peer).toBeUndefined()
  const reason = { message: expect.stringContaining('code 9') }
  expect(broken.connection.state).toMatchObject({ status: 'closed', reason })
  await Promise.all([none.connection.close(), broken.connection.close()])
})

describe('a call of an older server over stdio', () => {
  test('is asked, receives progress and logs, and its state is returned [STA-002 STA-003]', async () => {
    const { connection, client } = connect(['answers'])
    const heard: unknown[] = []
    await using changes = client.listen({ toolsListChanged: true })
    const events = changes[Symbol.asyncIterator]()
    expect(await events.next()).toMatchObject({ value: { notifications: { toolsListChanged: true } } })
    const result = await client.callTool(
      'ask',
      {},
      {
        onProgress: ({ progress }) => heard.push(progress),
        onLog: ({ data }) => heard.push(data),
      },
    )
    expect(result).toMatchObject({
      content: [{ text: JSON.stringify([{ action: 'accept', content: { name: 'Grace' } }, { a: 1 }]) }],
    })
    expect(heard).toEqual([1, 'log'])
    expect(await events.next()).toMatchObject({ value: { type: 'toolsListChanged' } })
    await connection.close()
  })

  test('that has ended refuses further questions [SCO-003]', async () => {
    const { connection, client, heard } = connect(['answers'])
    await client.callTool('late')
    await expect.poll(() => heard.at(-1)).toContain('-32600')
    await connection.close()
  })

  test('is cancelled by a notification [LEG-033]', async () => {
    const { connection, client, methods } = connect(['answers'])
    await client.listTools()
    await expect(client.callTool('forever', {}, { signal: AbortSignal.timeout(20) })).rejects.toThrow('timeout')
    await expect.poll(methods).toContain('notifications/cancelled')
    await connection.close()
  })

  test('fails with its process, and the next one is introduced anew', async () => {
    const { connection, client, methods } = connect(['answers'])
    await expect(client.callTool('die')).rejects.toMatchObject({ code: 'transport' })
    await client.listTools()
    await expect.poll(() => methods().filter((method) => method === 'initialize')).toHaveLength(2)
    expect(methods().filter((method) => method === 'server/discover')).toHaveLength(1)
    await connection.close()
    await expect(client.listTools()).rejects.toMatchObject({ code: 'transport' })
  })
})
