import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import type { Server } from '@x/schema'
import { serveStdio } from '@x/transport-stdio'
import { bridge } from './carry-stdio.ts'
import { objectOf, type Wire } from './wire.ts'

/** Lines over a pair of streams. */
export function openStreams(server: Server): Promise<Wire> {
  const [there, back] = [new PassThrough(), new PassThrough()]
  const service = serveStdio(server, { input: there, output: back })
  return Promise.resolve(writeLines({ input: back, output: there }, () => service.close()))
}

/** Lines over the pipes of a child process. */
export async function openChild(server: Server): Promise<Wire> {
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

function writeLines({ input, output }: Ends, close: () => Promise<void>): Wire {
  const next = readLines(input)
  const write = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      output.write(`${text}\n`, (error) => (error ? reject(error) : resolve()))
    })
  return {
    ask: async (text) => {
      // A line may be longer than the pipe holds, and be refused before its end.
      const [line] = await Promise.all([next(), write(text)])
      return objectOf(line)
    },
    tell: write,
    [Symbol.asyncDispose]: close,
  }
}

/** Gives line after line; Lines that are not requested are read too, so that the other side can end. */
function readLines(input: Readable): () => Promise<string> {
  const [lines, asking]: [string[], ((line: string) => void)[]] = [[], []]
  let rest = ''
  input.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    for (const line of parts) {
      const ask = asking.shift()
      if (ask) ask(line)
      else lines.push(line)
    }
  })
  return () =>
    new Promise((resolve) => {
      const line = lines.shift()
      if (line === undefined) asking.push(resolve)
      else resolve(line)
    })
}
