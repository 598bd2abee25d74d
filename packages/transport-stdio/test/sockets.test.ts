import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer as createSocketServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { connectStreams, serveStdio, type StdioServer, type ClientStreamConnection } from '../src/index.ts'
import { createGate } from '@tooling/vitest/gate'

const me = { name: 'host', version: '1.0.0' }

/** A listening address, with a function that connects to it. */
interface Place extends AsyncDisposable {
  listen(server: Server): Promise<void>
  dial(server: Server): Socket
}

async function unixSocket(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'stdio-'))
  const path = join(folder, 'mcp.sock')
  return {
    listen: async (server) => {
      server.listen(path)
      await once(server, 'listening')
    },
    dial: () => connect(path),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

function tcp(): Promise<Place> {
  return Promise.resolve({
    listen: async (server) => {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
    },
    // Behind `listening`, a TCP server has an address with a port.
    dial: (server) => connect((server.address() as AddressInfo).port, '127.0.0.1'),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  })
}

interface Listening extends AsyncDisposable {
  readonly services: readonly StdioServer[]
  connect(): { readonly connection: ClientStreamConnection; readonly socket: Socket }
}

async function listening(
  open: () => Promise<Place>,
  run: (text: string, signal: AbortSignal) => string | Promise<string>,
): Promise<Listening> {
  const place = await open()
  const speaks = tool('speaks', {
    description: 'Says something',
    input: z.object({ text: z.string() }),
    run: ({ text }, ctx) => run(text, ctx.signal),
  })
  const exchange = createServer({ name: 'socket', version: '1.0.0', tools: [speaks] })
  const services: StdioServer[] = []
  const sockets = createSocketServer((socket) => services.push(serveStdio(exchange, { input: socket, output: socket })))
  await place.listen(sockets)
  const connections: ClientStreamConnection[] = []
  return {
    services,
    connect: () => {
      const socket = place.dial(sockets)
      const connection = connectStreams({ input: socket, output: socket })
      connections.push(connection)
      return { connection, socket }
    },
    [Symbol.asyncDispose]: async () => {
      for (const one of [...connections, ...services]) await one.close()
      sockets.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

const speak = async (
  { connection }: { readonly connection: ClientStreamConnection },
  text: string,
): Promise<unknown> => {
  const { content } = await createClient(connection, me).callTool('speaks', { text })
  return content
}

describe.each([
  ['a Unix socket', unixSocket],
  ['TCP', tcp],
] as const)('over %s', (_, open) => {
  test('clients with the same ids get their own answers, a thousand times [STD-005 TRI-005]', async () => {
    await using server = await listening(open, (text) => text)
    const peers = [server.connect(), server.connect()]
    for (let round = 0; round < 1000; round += 50) {
      const texts = Array.from({ length: 50 }, (_unused, index) => `round ${round + index}`)
      const answers = texts.flatMap((text) => peers.map((peer, index) => speak(peer, `${text} of ${index}`)))
      const wanted = texts.flatMap((text) =>
        peers.map((_unused, index) => [{ type: 'text', text: `${text} of ${index}` }]),
      )
      expect(await Promise.all(answers)).toEqual(wanted)
    }
  })

  test('messages of several megabytes arrive whole, both ways', async () => {
    await using server = await listening(open, (text) => text)
    const text = 'Ζωή 🎈 '.repeat(500_000)
    expect(await speak(server.connect(), text)).toEqual([{ type: 'text', text }])
  })

  test('a client that disconnects cancels its requests', async () => {
    const started = createGate()
    const stopped = createGate()
    await using server = await listening(open, async (_text, signal) => {
      signal.addEventListener('abort', () => stopped.open())
      started.open()
      await stopped.opened
      return ''
    })
    const peer = server.connect()
    const call = speak(peer, '').catch((error: unknown) => error)
    await started.opened
    peer.socket.destroy()
    await stopped.opened
    await server.services[0]?.closed
    expect(await call).toMatchObject({ cause: { code: 'closed' } })
  })

  test('a server that closes one connection leaves the others alone', async () => {
    await using server = await listening(open, (text) => text)
    const [first, second] = [server.connect(), server.connect()]
    await Promise.all([speak(first, 'a'), speak(second, 'b')])
    await server.services[0]?.close()
    const outcomes = await Promise.allSettled([speak(first, 'a'), speak(second, 'b')])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  test('leaves signals and the output of this process unchanged', async () => {
    const before = [process.listenerCount('SIGTERM'), process.listenerCount('SIGINT'), process.stdout.write]
    await using server = await listening(open, (text) => text)
    await speak(server.connect(), 'a')
    expect([process.listenerCount('SIGTERM'), process.listenerCount('SIGINT'), process.stdout.write]).toEqual(before)
  })
})

test('a refused connection is reported', async () => {
  const place = await unixSocket()
  const socket = place.dial(createSocketServer())
  await using connection = connectStreams({ input: socket, output: socket })
  await expect(speak({ connection }, '')).rejects.toMatchObject({
    cause: { code: 'closed', cause: { code: 'ENOENT' } },
  })
  await place[Symbol.asyncDispose]()
})
