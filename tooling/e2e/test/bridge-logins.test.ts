import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { oauth } from '@x/auth/client'
import { fileStore } from '@x/auth/node'
import { connectStdio } from '@x/transport-stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { createHost, textOf } from '../src/hop/checks.ts'
import { buildMcpx } from './mcpx.ts'
import { serveProtected } from './protected-server.ts'

let bridge: ChildProgram
let folder = ''

beforeAll(async () => {
  bridge = await bundleProgram(new URL('../../examples/src/bridge.ts', import.meta.url))
  folder = await mkdtemp(join(tmpdir(), 'bridge-logins-'))
})

afterAll(async () => {
  await bridge[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

test('twelve bridges that start at the same time register one client, and the user logs in once', async () => {
  await using server = await serveProtected()
  const logins: string[] = []
  const visitLogin = async (line: string): Promise<void> => {
    const [, url] = /^To log in, visit (\S+)$/.exec(line) ?? []
    if (url === undefined) return
    logins.push(url)
    await fetch(await server.authServer.browse(url))
  }
  // PATH has no browser, so the bridge prints the URL of the login.
  const env = { PATH: folder, XDG_CONFIG_HOME: folder }
  const connections = Array.from({ length: 12 }, () =>
    connectStdio({
      command: process.execPath,
      args: [bridge.path, '--to-stdio', server.url],
      env,
      // Discovery at the start is skipped, because a busy machine exceeds its time limit.
      onStart: () => Promise.resolve(),
      stderr: (line) => void visitLogin(line),
    }),
  )
  try {
    const answers = await Promise.all(
      connections.map(async (connection) => textOf(await createHost(connection).client.callTool('who-am-i'))),
    )
    expect(answers[0]).toMatch(/^ada by \S+$/)
    expect(answers).toEqual(Array(12).fill(answers[0]))
    expect(logins).toHaveLength(1)
  } finally {
    await Promise.all(connections.map((connection) => connection.close()))
  }
})

test('mcpx without a terminal uses the login of the own URL of a server, and begins none', async () => {
  await using items = await serveProtected('localhost')
  const typed = items.url.replace('localhost', '127.0.0.1')
  await using mcpx = await buildMcpx()
  const config = join(folder, 'config')
  const first = await mcpx.runAs(config, 'call', typed, 'who-am-i')
  expect([first.code, first.err]).toEqual([
    1,
    expect.stringMatching(
      new RegExp(`calls itself ${items.url}[^]*Log in with "mcpx list ${items.url}" at a terminal`),
    ),
  ])

  const redirect = {
    applicationType: 'native' as const,
    open: async () => ({
      uri: 'http://127.0.0.1:33418/callback',
      visit: (url: URL) => items.authServer.browse(url),
      close: async () => {},
    }),
  }
  const store = fileStore('mcpx', { folder: join(config, 'mcpx', 'mcp-auth') })
  await oauth({ client: { name: 'mcpx' }, redirect, store }).login(items.url)
  const again = await mcpx.runAs(config, 'call', typed, 'who-am-i')
  expect([again.code, JSON.stringify(again.json)]).toEqual([0, expect.stringContaining('ada')])

  // A login that lacks a scope waits for nobody either.
  const update = await mcpx.runAs(config, 'call', items.url, 'update')
  expect([update.code, update.err]).toEqual([1, expect.stringMatching(/lacks items:write\. Repeat this at a terminal/)])
})
