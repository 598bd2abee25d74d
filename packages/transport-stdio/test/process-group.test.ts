import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio } from '../src/index.ts'
import { type BuiltPrograms, buildPrograms } from './built-programs.ts'

let programs: BuiltPrograms
let door: Server
const started: ChildProcess[] = []
beforeAll(async () => {
  programs = await buildPrograms()
  door = createServer().listen(0, '127.0.0.1')
  await once(door, 'listening')
})
afterAll(async () => {
  for (const child of started) if (child.exitCode === null) child.kill('SIGKILL')
  door.close()
  await programs[Symbol.asyncDispose]()
})

/** A server whose grandchild holds a connection to this test for as long as it runs, and shrugs at these signals. */
function serverWithGrandchild(...ignored: readonly string[]): string {
  const address = door.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const shrugs = ignored.map((signal) => `process.on('${signal}', () => {});`).join('')
  const grandchild = `${shrugs} require('node:net').connect(${port}, '127.0.0.1'); setInterval(() => {}, 1000)`
  return `
    require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}], { stdio: 'ignore' })
    require('node:readline').createInterface({ input: process.stdin })
      .on('line', (line) => {
        const result = { resultType: 'complete', supportedVersions: ['2026-07-28'] }
        console.log(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(line).id, result }))
      })
      .on('close', () => process.exit())
  `
}

/** The connection of the next grandchild, and its end. */
async function nextGrandchild(): Promise<{ readonly ended: Promise<unknown> }> {
  const [socket]: Socket[] = await once(door, 'connection')
  if (socket === undefined) throw new Error('no socket came')
  socket.on('error', () => {}).resume()
  return { ended: once(socket, 'close') }
}

/** A host with such a server, whose listener of SIGINT is this code. Resolves once the server has answered. */
async function startHost(listener?: string, stderr: 'inherit' | 'ignore' = 'inherit') {
  const coming = nextGrandchild()
  const code = listener && `data:text/javascript,process.on("SIGINT",()=>${encodeURIComponent(listener)})`
  const flags = code === undefined ? [] : ['--import', code]
  const host = spawn(process.execPath, [...flags, programs.path('host'), '-e', serverWithGrandchild()], {
    stdio: ['ignore', 'pipe', stderr],
  })
  started.push(host)
  const grandchild = await coming
  await once(host.stdout, 'data')
  return { host, grandchild }
}

describe.skipIf(process.platform === 'win32')('the processes that a server has started', () => {
  test.each([
    ['that end at SIGTERM', []],
    ['that end at SIGKILL alone', ['SIGTERM']],
  ])('end with its connection: those %s', async (_title, ignored) => {
    const args = ['-e', serverWithGrandchild(...ignored)]
    await using connection = connectStdio({ command: process.execPath, args, graceMs: 300 })
    const coming = nextGrandchild()
    await connection.start()
    const grandchild = await coming
    await connection.close()
    await grandchild.ended
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('receive the %s of the host, which it ends', async (signal) => {
    const { host, grandchild } = await startHost()
    const exit = once(host, 'exit')
    host.kill(signal)
    expect(await exit).toEqual([null, signal])
    await grandchild.ended
  })

  test('receive no signal that the host handles itself, and the next one that ends it [ROB-002]', async () => {
    const { host, grandchild } = await startHost('console.log("signalled")')
    let hasEnded = false
    const ended = grandchild.ended.then(() => (hasEnded = true))
    const output = once(host.stdout, 'data')
    host.kill('SIGINT')
    expect(String(await output)).toContain('signalled')
    expect([host.exitCode, hasEnded]).toEqual([null, false])
    host.kill('SIGTERM')
    await ended
  })

  test('receive SIGTERM when the host exits, as by an error [STD-012]', async () => {
    const { host, grandchild } = await startHost('{throw new Error("crashed")}', 'ignore')
    host.kill('SIGINT')
    await grandchild.ended
  })
})

test.skipIf(process.platform !== 'linux').each([
  [true, undefined],
  [true, true],
  [false, false],
])('a process leads a group of its own: %j with processGroup: %j', async (leads, processGroup) => {
  const args = [programs.path('server')]
  await using connection = connectStdio({ command: process.execPath, args, processGroup })
  await connection.start()
  const { pid = 0 } = connection.process
  // proc_pid_stat(5): the state, the parent and the group follow the name in parentheses.
  const [, , group] = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ')
  expect(Number(group) === pid).toBe(leads)
})
