import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectStdio } from '@x/transport-stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { createHost, textOf } from '../src/hop/checks.ts'
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
