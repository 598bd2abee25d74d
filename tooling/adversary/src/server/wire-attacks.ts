import { once } from 'node:events'
import type { Attack } from '../attack.ts'
import { isJsonObject } from '@x/schema'
import { callOf, type Message, rawCallOf, request } from '../requests.ts'
import { secret } from './endpoints.ts'
import { type Attacker, httpText, until } from './attacker.ts'

const withProgress = { _meta: { progressToken: 1 } }
const echo = httpText(callOf('echo', { text: 'x' }))
const flood = httpText(callOf('flood', {}, withProgress))
const big = httpText(callOf('big', { length: 1_000_000 }))
const head = (length: number, more = ''): string =>
  httpText({ ...callOf('echo', {}), body: '' }).replace('content-length: 0', `content-length: ${length}${more}`)
const listeners = 60
const listen = (filter: object): Message => request('subscriptions/listen', { notifications: filter })
const uris = (count: number, stream: number): string[] =>
  Array.from({ length: count }, (_, index) => `file:///some/file/${stream}/${index}`)

/** Writes the same to many connections, and leaves once the server has had its turn with all of it. */
function flooded(name: string, parts: readonly (string | Buffer)[], connections: number): Attack<Attacker> {
  return {
    name,
    run: async (peer, scale) => {
      const sockets = Array.from({ length: connections * scale }, () => peer.open(parts).pause())
      await Promise.all(sockets.map((socket) => once(socket, 'connect')))
      // Two answers later, the server has read what it is going to read of them.
      for (let call = 0; call < 2; call += 1) await peer.send(callOf('echo', { text: 'x' }))
    },
  }
}

/** Attacks by connections: slow, many, unfinished, or without anybody who reads. */
export const wireAttacks: readonly Attack<Attacker>[] = [
  flooded('half-open-heads', ['POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: '], 300),
  flooded('half-open-bodies', [head(4_000_000), Buffer.alloc(500_000, ' ')], 60),
  flooded(
    'half-open-chunks',
    [head(0, '\r\ntransfer-encoding: chunked').replace('content-length: 0\r\n', ''), '5\r\n{"js'],
    200,
  ),
  flooded('idle-connections', [], 400),
  flooded('never-read-answers', [big], 60),
  flooded('never-read-pipelined-answers', [big.repeat(150)], 4),
  flooded('never-read-progress', [flood], 20),
  flooded('pipelined-floods', [flood.repeat(50)], 2),
  {
    name: 'pipelined-calls',
    run: async (peer) => {
      // One more than a connection may have at once closes it.
      const calls = 16
      const socket = peer.open([echo.repeat(calls)])
      let answers = 0
      socket.setEncoding('latin1').on('data', (text: string) => {
        answers += text.split('HTTP/1.1 200').length - 1
      })
      await until(`${calls} answers to pipelined calls`, () => answers >= calls * 0.99)
    },
  },
  {
    name: 'cancelled-calls',
    run: async (peer, scale) => {
      for (let round = 0; round < 3 * scale; round += 1) {
        const responses = await Promise.all(
          Array.from({ length: 100 }, () => peer.stream(callOf('wait', {}, withProgress))),
        )
        for (const response of responses) response.destroy()
      }
      await until('the handlers of cancelled calls to end', async () => (await peer.target.ask<number>('running')) < 5)
    },
  },
  {
    name: 'aborted-heads',
    run: async (peer, scale) => {
      for (let count = 0; count < 200 * scale; count += 1) peer.open([echo.slice(0, 200)]).resetAndDestroy()
      await peer.send(callOf('echo', { text: 'x' }))
    },
  },
  {
    name: 'subscription-streams',
    run: async (peer, scale) => {
      const responses = await Promise.all(
        Array.from({ length: 300 * scale }, () => peer.stream(listen({ toolsListChanged: true }))),
      )
      for (const response of responses) response.destroy()
    },
  },
  {
    name: 'subscription-uris',
    retained: {
      // Twice of it is the most that a server takes by default, of so many streams.
      size: 50 * listeners,
      bytesPerUnit: 160,
      hold: async (peer, size) => {
        for (let stream = 0; stream < listeners; stream += 1) {
          const response = await peer.stream(
            listen(size === 0 ? {} : { resourceSubscriptions: uris(size / listeners, stream) }),
          )
          if (response.statusCode !== 200)
            throw new Error(`a stream of ${size} URIs is rejected with ${response.statusCode}`)
          // The acknowledgement says that the stream is there.
          await once(response, 'data')
        }
      },
    },
  },
  {
    name: 'too-many-subscription-uris',
    run: async (peer) => {
      const { statusCode } = await peer.stream(listen({ resourceSubscriptions: uris(101, 0) }))
      if (statusCode !== 400) throw new Error(`101 URIs are answered with status ${statusCode}, 400 is wanted`)
    },
  },
  ...['__proto__', 'constructor', 'toString'].map(
    (key): Attack<Attacker> => ({
      name: `keys-of-objects-${key}`,
      run: async (peer) => {
        const hostile: object = JSON.parse(`{"${key}":{"polluted":true},"text":"x"}`)
        for (const message of [
          callOf('echo', hostile),
          callOf(key, hostile),
          callOf('echo', { text: 'x' }, { _meta: hostile }),
          callOf('remove', {}, { inputResponses: hostile }),
          request(key, { ...hostile }),
          request('resources/read', { uri: key }),
        ]) {
          const { status } = await peer.send(message)
          if (status >= 500) throw new Error(`${String(message.body).slice(0, 120)} is answered with status ${status}`)
        }
      },
    }),
  ),
]

/** Requests that must be answered as the fault of their client, whatever a lenient reader makes of them. */
const rejected: readonly (readonly [name: string, message: Message])[] = [
  ['duplicate-arguments', rawCallOf('echo', '{"text":"seen by a gateway","text":"run here"}')],
  ['duplicate-nested-arguments', rawCallOf('remove', '{"folder":"a","more":[{"b":1,"b":2}]}')],
  ['half-pair-for-a-tool-that-asks', rawCallOf('remove', '{"more":"\\ud800"}')],
  ['endless-number-for-a-tool-that-asks', rawCallOf('remove', '{"more":1e400}')],
  ...['/etc/passwd', '%2Fetc/passwd', '%252Fetc/passwd', 'a/..%2F..', 'a/%252e%252e/b', 'C:%5CWindows'].map(
    (path) => [`path-of-a-template-${path}`, request('resources/read', { uri: `data:///folder/${path}` })] as const,
  ),
]

/** Attacks by one request that means more than one thing, or asks for what it must not have. */
export const trickAttacks: readonly Attack<Attacker>[] = [
  ...rejected.map(
    ([name, message]): Attack<Attacker> => ({
      name,
      run: async (peer) => {
        const { body, status } = await peer.send(message)
        const { error } = body
        const code = isJsonObject(error) ? error['code'] : undefined
        if (status < 500 && (code === -32602 || code === -32600)) return
        throw new Error(`answered with status ${status}: ${JSON.stringify(body).slice(0, 200)}`)
      },
    }),
  ),
  {
    name: 'two-hosts',
    run: async (peer) => {
      const socket = peer.open([echo.replace('host: 127.0.0.1', 'host: 127.0.0.1\r\nhost: evil.test')])
      const [bytes] = await once(socket, 'data')
      if (!String(bytes).startsWith('HTTP/1.1 400')) throw new Error(`answered with ${String(bytes).slice(0, 100)}`)
    },
  },
  {
    name: 'request-line-without-version',
    run: async (peer) => {
      const socket = peer.open([echo.replace(' HTTP/1.1', '')])
      const [bytes] = await once(socket, 'data')
      if (!String(bytes).startsWith('HTTP/1.1 400')) throw new Error(`answered with ${String(bytes).slice(0, 100)}`)
    },
  },
  {
    name: 'ever-new-hosts',
    run: async (peer, scale) => {
      const { body, headers } = callOf('echo', { text: 'x' })
      for (let count = 0; count < 300 * scale; count += 1) {
        const { status } = await peer.send({ body, headers: { ...headers, host: `${count}.evil.test` } })
        if (status !== 403) throw new Error(`a foreign host is answered with status ${status}`)
      }
    },
  },
  {
    name: 'secret-of-an-error',
    run: async (peer) => {
      const text = JSON.stringify((await peer.send(callOf('leak', {}))).body)
      if (text.includes(secret)) throw new Error('the message of an error reached the client')
    },
  },
]

/** The bytes that a pipe of Linux holds. */
const pieceBytes = 64 * 1024

/** Attacks on the same server over stdio, beside the honest client over HTTP. */
export const stdioAttacks: readonly Attack<Attacker>[] = (
  [
    ['line-without-end', Buffer.alloc(16 * 1024 * 1024, 'x')],
    ['many-empty-lines', Buffer.alloc(1024 * 1024, '\n')],
    ['many-wrong-lines', Buffer.from('{"jsonrpc":"2.0","id":1}\n'.repeat(20_000))],
    ['many-calls', Buffer.from(`${String(callOf('echo', { text: 'x' }).body)}\n`.repeat(5000))],
    ['never-read-floods', Buffer.from(`${String(callOf('flood', {}, withProgress).body)}\n`.repeat(50))],
  ] as const
).map(([name, bytes]) => ({
  name,
  run: async (peer) => {
    const { stdin } = peer.target.child
    if (stdin === null) throw new Error('the target has no stdin')
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      let taken = false
      stdin.write(bytes.subarray(at, at + pieceBytes), () => {
        taken = true
      })
      // A process that reads its input takes a piece between two calls; one that does not is left alone.
      for (let calls = 0; calls < 5 && !taken; calls += 1) await peer.send(callOf('echo', { text: 'x' }))
      if (!taken) return
    }
  },
}))
