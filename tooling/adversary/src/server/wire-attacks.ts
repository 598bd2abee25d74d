import { once } from 'node:events'
import type { Attack } from '../attack.ts'
import { isJsonObject } from '@x/schema'
import { callOf, type Message, rawCallOf, request } from '../requests.ts'
import { secret } from './endpoints.ts'
import { type Attacker, httpText, waitUntil } from './attacker.ts'

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

/** Writes the same bytes to many connections, and disconnects when the server has read them. */
function floodAttack(name: string, parts: readonly (string | Buffer)[], connections: number): Attack<Attacker> {
  return {
    name,
    run: async (peer, scale) => {
      const sockets = Array.from({ length: connections * scale }, () => peer.open(parts).pause())
      await Promise.all(sockets.map((socket) => once(socket, 'connect')))
      // After two responses the server has read all the bytes that it accepts.
      for (let call = 0; call < 2; call += 1) await peer.send(callOf('echo', { text: 'x' }))
    },
  }
}

/** Attacks with connections: slow, many, incomplete, or with unread responses. */
export const wireAttacks: readonly Attack<Attacker>[] = [
  floodAttack('half-open-heads', ['POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: '], 300),
  floodAttack('half-open-bodies', [head(4_000_000), Buffer.alloc(500_000, ' ')], 60),
  floodAttack(
    'half-open-chunks',
    [head(0, '\r\ntransfer-encoding: chunked').replace('content-length: 0\r\n', ''), '5\r\n{"js'],
    200,
  ),
  floodAttack('idle-connections', [], 400),
  floodAttack('never-read-answers', [big], 60),
  floodAttack('never-read-pipelined-answers', [big.repeat(150)], 4),
  floodAttack('never-read-progress', [flood], 20),
  floodAttack('pipelined-floods', [flood.repeat(50)], 2),
  {
    name: 'pipelined-calls',
    run: async (peer) => {
      // The server closes a connection with more pipelined calls than this limit.
      const calls = 16
      const socket = peer.open([echo.repeat(calls)])
      let answers = 0
      socket.setEncoding('latin1').on('data', (text: string) => {
        answers += text.split('HTTP/1.1 200').length - 1
      })
      await waitUntil(`not all ${calls} pipelined calls were answered`, () => answers >= calls * 0.99)
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
      await waitUntil(
        'the handlers of cancelled calls still run',
        async () => (await peer.target.ask<number>('running')) < 5,
      )
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
      // Twice this size is the default limit of a server for this number of streams.
      size: 50 * listeners,
      bytesPerUnit: 160,
      retain: async (peer, size) => {
        for (let stream = 0; stream < listeners; stream += 1) {
          const response = await peer.stream(
            listen(size === 0 ? {} : { resourceSubscriptions: uris(size / listeners, stream) }),
          )
          if (response.statusCode !== 200)
            throw new Error(`a stream of ${size} URIs was rejected with status ${response.statusCode}`)
          // The stream is open when its acknowledgement has arrived.
          await once(response, 'data')
        }
      },
    },
  },
  {
    name: 'too-many-subscription-uris',
    run: async (peer) => {
      const { statusCode } = await peer.stream(listen({ resourceSubscriptions: uris(101, 0) }))
      if (statusCode !== 400) throw new Error(`101 URIs returned status ${statusCode}, expected 400`)
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
          if (status >= 500) throw new Error(`${String(message.body).slice(0, 120)} returned status ${status}`)
        }
      },
    }),
  ),
]

/** Requests that must be rejected as client errors, even if a lenient parser accepts them. */
const invalidRequests: readonly (readonly [name: string, message: Message])[] = [
  ['duplicate-arguments', rawCallOf('echo', '{"text":"seen by a gateway","text":"run here"}')],
  ['duplicate-nested-arguments', rawCallOf('remove', '{"folder":"a","more":[{"b":1,"b":2}]}')],
  ['half-pair-for-a-tool-that-asks', rawCallOf('remove', '{"more":"\\ud800"}')],
  ['endless-number-for-a-tool-that-asks', rawCallOf('remove', '{"more":1e400}')],
  ...['/etc/passwd', '%2Fetc/passwd', '%252Fetc/passwd', 'a/..%2F..', 'a/%252e%252e/b', 'C:%5CWindows'].map(
    (path) => [`path-of-a-template-${path}`, request('resources/read', { uri: `data:///folder/${path}` })] as const,
  ),
]

/** Attacks with one ambiguous request, or with a request for forbidden data. */
export const trickAttacks: readonly Attack<Attacker>[] = [
  ...invalidRequests.map(
    ([name, message]): Attack<Attacker> => ({
      name,
      run: async (peer) => {
        const { body, status } = await peer.send(message)
        const { error } = body
        const code = isJsonObject(error) ? error['code'] : undefined
        if (status < 500 && (code === -32602 || code === -32600)) return
        throw new Error(`the request returned status ${status}: ${JSON.stringify(body).slice(0, 200)}`)
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
        if (status !== 403) throw new Error(`a foreign host returned status ${status}`)
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

/** The capacity of a pipe on Linux in bytes. */
const chunkBytes = 64 * 1024

/** Attacks on the same server over stdio, while the honest client uses HTTP. */
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
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      let flushed = false
      stdin.write(bytes.subarray(at, at + chunkBytes), () => {
        flushed = true
      })
      // A process that reads its input reads a chunk within a few calls. Otherwise the attack ends.
      for (let calls = 0; calls < 5 && !flushed; calls += 1) await peer.send(callOf('echo', { text: 'x' }))
      if (!flushed) return
    }
  },
}))
