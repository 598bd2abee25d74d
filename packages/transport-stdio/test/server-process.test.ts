import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { JsonObject } from '@x/schema'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawPeer, type RawPeer } from '../src/testing/raw-peer.ts'
import { createRequest } from '../src/testing/requests.ts'
import { type BuiltPrograms, buildPrograms } from './built-programs.ts'

let programs: BuiltPrograms
const started: ChildProcess[] = []
beforeAll(async () => {
  programs = await buildPrograms()
})
afterAll(async () => {
  for (const child of started) if (child.exitCode === null) child.kill('SIGKILL')
  await programs[Symbol.asyncDispose]()
})

interface Running {
  readonly child: ChildProcess
  readonly peer: RawPeer
  /** Resolves with the next line of stderr. */
  said(): Promise<string>
  /** Resolves with the exit of the process and the rest of its stderr. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null; readonly stderr: string[] }>
}

function run(): Running {
  const child = spawn(process.execPath, [programs.path('server')], { stdio: ['pipe', 'pipe', 'pipe'] })
  started.push(child)
  const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]()
  const ended = once(child, 'exit').then(async ([code, signal]) => {
    const stderr: string[] = []
    for (let line = await lines.next(); !line.done; line = await lines.next()) stderr.push(line.value)
    return { code: typeof code === 'number' ? code : null, signal: typeof signal === 'string' ? signal : null, stderr }
  })
  const said = async (): Promise<string> => String((await lines.next()).value)
  return { child, peer: rawPeer({ input: child.stdout, output: child.stdin }), said, ended }
}

const call = (id: number, name: string, given = {}) => createRequest(id, 'tools/call', { name, arguments: given })

describe('a server on stdin and stdout', () => {
  test('sends printed output to stderr, and only messages to stdout [STD-003]', async () => {
    const { peer, said, ended } = run()
    peer.say(call(1, 'prints'))
    expect(await said()).toBe('by console.log')
    expect(await peer.next()).toMatchObject({ id: 1, result: { content: [{ text: 'printed' }] } })
    peer.end()
    const { stderr } = await ended
    expect(stderr.join('\n')).toContain('console.table')
    expect(stderr).toEqual(expect.arrayContaining(['by stdout.write', 'by stdout.write in bytes']))
    expect(await peer.ended).toEqual([])
  })

  test('exits when its input ends, though something keeps the process running [STD-013]', async () => {
    const { peer, ended } = run()
    peer.say(call(1, 'pid'))
    await peer.next()
    peer.end()
    expect(await ended).toMatchObject({ code: 0, signal: null })
  })

  test('asks a running call to stop when its input ends, and does not wait for one that never does [STD-013]', async () => {
    const { child, peer, said, ended } = run()
    peer.say(call(1, 'waits'), call(2, 'hangs'))
    await said()
    await said()
    peer.end()
    expect(await said()).toBe('cancelled: The client closed the connection')
    // What a host sends next to a server that takes its time (basic/transports/stdio, shutdown).
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0, signal: null })
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('exits in good order at %s', async (signal) => {
    const { child, peer, said, ended } = run()
    peer.say(call(1, 'waits'))
    await said()
    child.kill(signal)
    const { code, stderr } = await ended
    expect(code).toBe(0)
    expect(stderr).toContain(`cancelled: The process received ${signal}`)
    expect(await peer.ended).toHaveLength(1)
  })

  test('exits at once at a second signal', async () => {
    const { child, peer, said, ended } = run()
    peer.say(call(1, 'waits'), call(2, 'hangs'))
    await said()
    await said()
    child.kill('SIGTERM')
    expect(await said()).toContain('cancelled')
    // The first ones may be too early to be a second signal.
    await expect.poll(() => child.kill('SIGTERM')).toBe(false)
    expect(await ended).toMatchObject({ signal: 'SIGTERM' })
  })

  test('exits without a crash when nothing reads its output', async () => {
    const { child, peer, ended } = run()
    peer.say(call(1, 'pid'))
    await peer.next()
    child.stdout?.destroy()
    child.stderr?.resume()
    peer.say(call(2, 'pid'), call(3, 'prints'), call(4, 'pid'))
    expect(await ended).toMatchObject({ code: 0, signal: null })
  })

  test('reads from a file and writes to one, as from pipes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stdio-'))
    const [from, to] = [join(folder, 'in'), join(folder, 'out')]
    await writeFile(from, `${JSON.stringify(call(1, 'echo', { text: 'from a file' }))}\n`)
    const [input, output] = [await open(from), await open(to, 'w')]
    const child = spawn(process.execPath, [programs.path('server')], { stdio: [input.fd, output.fd, 'ignore'] })
    started.push(child)
    const [code] = await once(child, 'exit')
    await Promise.all([input.close(), output.close()])
    expect(code).toBe(0)
    expect(await readFile(to, 'utf8')).toContain('from a file')
    await rm(folder, { recursive: true })
  })

  test('skips an invalid line of 200 MB and continues, with bounded memory', async () => {
    const { child, peer, ended } = run()
    peer.say(call(1, 'peak'))
    const before = megabytesOf(await peer.next())
    const megabyte = Buffer.alloc(1024 * 1024, 'x')
    for (let count = 0; count < 200; count++) {
      if (child.stdin?.write(megabyte) === false) await once(child.stdin, 'drain')
    }
    peer.say('\n', call(2, 'peak'))
    expect(await peer.next()).toMatchObject({ error: { code: -32700 } })
    // The limit of 16 MiB, and the buffers that grew up to it.
    expect(megabytesOf(await peer.next()) - before).toBeLessThan(100)
    peer.end()
    await ended
  })
})

describe('a server whose parent dies', () => {
  test('exits too: no process holds the pipes of the parent [STD-013]', async () => {
    const host = spawn(process.execPath, [programs.path('host'), programs.path('server')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    started.push(host)
    const pid = Number(await firstLine(host.stdout))
    expect(process.kill(pid, 0)).toBe(true)
    host.stderr.resume()
    host.kill('SIGKILL')
    // The server inherited the host's stderr, which closes when the last of the two has exited, and never before.
    await once(host.stderr, 'close')
    expect(host.signalCode).toBe('SIGKILL')
  })
})

function megabytesOf(response: JsonObject): number {
  return Number(/"text":"(\d+)"/.exec(JSON.stringify(response))?.[1])
}

async function firstLine(stream: Readable): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line
  throw new Error('the stream ended without a line')
}
