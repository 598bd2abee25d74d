import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import type { Server } from '@x/exchange'
import { serveStdio } from '@x/transport-stdio'
import { bridge } from './test-transports-stdio.ts'
import { parseObject, type RawTransport } from './raw-transport.ts'

/** Sends lines over a pair of streams. */
export function openStreams(server: Server): Promise<RawTransport> {
  const [there, back] = [new PassThrough(), new PassThrough()]
  const service = serveStdio(server, { input: there, output: back })
  return Promise.resolve(writeLines({ input: back, output: there }, () => service.close()))
}

/** Sends lines over the pipes of a child process. */
export async function openChild(server: Server): Promise<RawTransport> {
  const folder = await mkdtemp(join(tmpdir(), 'e2e-wire-'))
  const path = join(folder, 'server.sock')
  const services: AsyncDisposable[] = []
  const sockets = createSocketServer((socket) => {
    services.push(serveStdio(server, { input: socket, output: socket }))
  })
  await once(sockets.listen(path), 'listening')
  const child = spawn(process.execPath, [bridge, path], { stdio: ['pipe', 'pipe', 'inherit'] })
  const close = async (): Promise<void> => {
    child.kill()
    sockets.close()
    for (const service of services) await service[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }
  return writeLines({ input: child.stdout, output: child.stdin }, close)
}

interface Ends {
  readonly input: Readable
  readonly output: Writable
}

function writeLines({ input, output }: Ends, close: () => Promise<void>): RawTransport {
  const next = readLines(input)
  const write = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      output.write(`${text}\n`, (error) => (error ? reject(error) : resolve()))
    })
  return {
    request: async (text) => {
      // A line may exceed the pipe's buffer and be rejected before its end.
      const [line] = await Promise.all([next(), write(text)])
      return parseObject(line)
    },
    notify: write,
    [Symbol.asyncDispose]: close,
  }
}

/** Returns a function that reads one line after another. Lines are always read, so that the other side can end. */
function readLines(input: Readable): () => Promise<string> {
  const [lines, pendingReads]: [string[], ((line: string) => void)[]] = [[], []]
  let buffer = ''
  input.setEncoding('utf8').on('data', (text: string) => {
    const parts = (buffer + text).split('\n')
    buffer = parts.pop() ?? ''
    for (const line of parts) {
      const resolveRead = pendingReads.shift()
      if (resolveRead) resolveRead(line)
      else lines.push(line)
    }
  })
  return () =>
    new Promise((resolve) => {
      const line = lines.shift()
      if (line === undefined) pendingReads.push(resolve)
      else resolve(line)
    })
}
