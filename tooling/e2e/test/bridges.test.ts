import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { connectAny } from '@x/legacy/client'
import { serveHttp } from '@x/transport-http/node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { createHost, textOf } from '../src/hop/checks.ts'
import { createFeatures } from '../src/hop/features.ts'

let bridge: ChildProgram
let features: ChildProgram

beforeAll(async () => {
  ;[bridge, features] = await Promise.all([
    bundleProgram(new URL('../../examples/src/bridge.ts', import.meta.url)),
    bundleProgram(new URL('programs/features.ts', import.meta.url)),
  ])
})

afterAll(async () => {
  for (const program of [bridge, features]) await program[Symbol.asyncDispose]()
})

test.each(['2026-07-28', 'older'] as const)('a host over stdio, %s, uses a server at a URL', async (revision) => {
  await using http = await serveHttp(createFeatures())
  await using connection = connectAny(
    { command: process.execPath, args: [bridge.path, '--to-stdio', http.url] },
    { revision },
  )
  const { client } = createHost(connection)
  expect(textOf(await client.callTool('ask'))).toBe('host to Who?')
})

test('hosts over HTTP use a server that is a program, and its processes end with the bridge', async () => {
  const child = spawn(process.execPath, [bridge.path, '--to-http', '0', '--', process.execPath, features.path])
  const [line] = await once(createInterface({ input: child.stderr }), 'line')
  const url = String(line).replace('The server is at ', '')
  const hosts = ['ada', 'grace', 'joan', 'mary'].map((name) => {
    const connection = connectAny(url, { revision: name === 'mary' ? 'older' : '2026-07-28' })
    return { name, connection, client: createHost(connection, { name }).client }
  })
  const answers = await Promise.all(hosts.map(async ({ client }) => textOf(await client.callTool('ask-twice'))))
  for (const [index, { name }] of hosts.entries())
    expect(answers[index]).toBe(`${name} to Who is first? ${name} to Who follows ${name} to Who is first??`)
  for (const { connection } of hosts) await connection.close()
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  // The streams close when all processes that share them have ended.
  expect(await ended).toEqual([0, null])
})

test('a bridge without a server prints its usage', async () => {
  const child = spawn(process.execPath, [bridge.path])
  let printed = ''
  child.stderr.on('data', (chunk) => (printed += String(chunk)))
  expect(await once(child, 'close')).toEqual([1, null])
  expect(printed).toContain('Usage: bridge --to-stdio URL')
})
