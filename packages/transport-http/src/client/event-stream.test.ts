import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { defaultBounds, type RpcMessage } from '@x/schema'
import { describe, expect, test, vi } from 'vitest'
import {
  callWith,
  formatEvent,
  createEventStreamAnswer,
  rpcRequest,
  rpcResult,
  scriptedServer,
} from '../testing/scripted-server.ts'
import { type Connect, senders } from '../testing/senders.ts'
import { createEventStreamReader } from './event-stream.ts'

const note = (text: string): { jsonrpc: '2.0'; method: string; params: { text: string } } => ({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { text },
})

describe.each(senders)('An event stream over %s', (_name, connect: Connect) => {
  test.each([
    ['comments', ': ping\n\n:\r\n\r\n', []],
    ['events of another type', 'event: ping\ndata: nothing\n\n', []],
    ['events without data, ids and retry times', 'id: 1\nretry: 10\ndata:\n\n', []],
    ['unknown fields', 'colour: red\n\n', []],
  ])('passes over %s [SHT-023]', async (_title, noise, heard) => {
    await using server = await scriptedServer(createEventStreamAnswer(noise, formatEvent(rpcResult()), noise))
    await using connection = connect(server.url)
    const call = callWith()
    expect(await connection.exchange(rpcRequest(), call)).toEqual(rpcResult())
    expect(call.heard).toEqual(heard)
  })

  test.each([
    ['the stream ends without the response', createEventStreamAnswer(formatEvent(note('a'))), 'closed'],
    ['the response answers another request', createEventStreamAnswer(formatEvent(rpcResult({}, 8))), 'protocol'],
    ['an event is no JSON', createEventStreamAnswer('data: {"jsonrpc"\n\n'), 'protocol'],
    [
      'the server sends a request of its own',
      createEventStreamAnswer(formatEvent({ jsonrpc: '2.0', id: 1, method: 'ping' })),
      'protocol',
    ],
    ['an event grows past its bound', createEventStreamAnswer(`data: "${'x'.repeat(5000)}"\n\n`), 'too_large'],
    ['a line never ends', createEventStreamAnswer(`data: "${'x'.repeat(9000)}`), 'too_large'],
    [
      'there is more than the stream may hold',
      createEventStreamAnswer(...Array(20).fill(`${formatEvent(note('y'.repeat(900)))}`)),
      'too_large',
    ],
    ['comments never end', createEventStreamAnswer(...Array(20).fill(`: ${'z'.repeat(900)}\n\n`)), 'too_large'],
  ])('fails when %s', async (_title, answer, code) => {
    await using server = await scriptedServer(answer)
    await using connection = connect(server.url, { maxMessageBytes: 4096, maxStreamBytes: 16_384 })
    await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({ name: 'HttpError', code })
  })

  test('a request of the server is answered with nothing at all [SHT-012]', async () => {
    await using server = await scriptedServer(
      createEventStreamAnswer(formatEvent({ jsonrpc: '2.0', id: 1, method: 'ping' })),
    )
    await using connection = connect(server.url)
    await expect(connection.exchange(rpcRequest(), callWith())).rejects.toThrow('sent a request')
    expect(server.received).toHaveLength(1)
  })

  test('an endless stream is closed at its bound', async () => {
    await using server = await scriptedServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const more = (): void => {
        if (!response.destroyed) response.write(`: ${'x'.repeat(60_000)}\n`, more)
      }
      more()
    })
    await using connection = connect(server.url, { maxStreamBytes: 200_000 })
    const arrived = server.next()
    const failure = connection.exchange(rpcRequest(), callWith()).catch((error: unknown) => error)
    const { closed } = await arrived
    expect(await failure).toMatchObject({ code: 'too_large' })
    await closed
  })

  test.each([
    ['with a length that says so', { 'content-length': '1000001' }],
    ['without a length', {}],
  ])('a JSON body that is too long is refused %s', async (_title, headers) => {
    await using server = await scriptedServer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers })
      response.write(' '.repeat(500_000))
    })
    await using connection = connect(server.url, { maxMessageBytes: 100_000 })
    await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({ code: 'too_large' })
  })

  test('a compressed body that unpacks without end is refused', async () => {
    const bomb = gzipSync(`{"jsonrpc":"2.0","id":7,"result":{"x":"${' '.repeat(5_000_000)}"}}`)
    await using server = await scriptedServer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb)
    })
    await using connection = connect(server.url, { maxMessageBytes: 100_000 })
    const failure = await connection.exchange(rpcRequest(), callWith()).catch((error: unknown) => error)
    expect(['too_large', 'protocol']).toContain((failure as { code?: string }).code)
  })

  test('a connection that closes inside an answer is not taken for an answer', async () => {
    await using server = await scriptedServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"jsonrpc"', () => response.destroy())
    })
    await using connection = connect(server.url)
    await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({ code: 'closed' })
    expect(server.received).toHaveLength(1)
  })

  test('the connection serves the next request after a stream has ended', async () => {
    await using server = await scriptedServer(createEventStreamAnswer(formatEvent(note('a')), formatEvent(rpcResult())))
    await using connection = connect(server.url)
    for (let round = 0; round < 3; round += 1) await connection.exchange(rpcRequest(), callWith())
    expect(server.received).toHaveLength(3)
    expect(server.countConnections()).toBeLessThan(3)
  })

  test('notifications after the response are not passed on', async () => {
    await using server = await scriptedServer(
      createEventStreamAnswer(formatEvent(rpcResult()) + formatEvent(note('late'))),
    )
    await using connection = connect(server.url)
    const call = callWith()
    await connection.exchange(rpcRequest(), call)
    expect(call.heard).toEqual([])
  })
})

describe('Chunks of a stream', () => {
  const collect = (bytes: Uint8Array, cuts: readonly number[]): RpcMessage[] => {
    const messages: RpcMessage[] = []
    const take = createEventStreamReader({
      origin: 'http://test',
      bounds: defaultBounds,
      maxBytes: 1_000_000,
      onMessage: (message) => messages.push(message),
    })
    let start = 0
    for (const cut of [...cuts].sort((a, b) => a - b)) {
      take(bytes.subarray(start, cut))
      start = cut
    }
    take(bytes.subarray(start))
    return messages
  }

  test('may be cut anywhere, within characters and line ends too', () => {
    const newline = fc.constantFrom('\n', '\r\n', '\r')
    const texts = fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(texts, newline, fc.array(fc.nat(), { maxLength: 20 }), (all, end, cuts) => {
        const messages = all.map(note)
        const text = messages.map((message) => `: c${end}data: ${JSON.stringify(message)}${end}${end}`).join('')
        const bytes = new TextEncoder().encode(text)
        // The stream's last line end may be a lone carriage return, which the next line decides.
        const whole = new Uint8Array([...bytes, ...new TextEncoder().encode(': end\n\n')])
        expect(
          collect(
            whole,
            cuts.map((cut) => cut % whole.length),
          ),
        ).toEqual(messages)
      }),
    )
  })

  test('of arbitrary bytes give messages or an HttpError, nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (noise, isData) => {
        const bytes = new Uint8Array([...(isData ? new TextEncoder().encode('data: {') : []), ...noise, 10, 10])
        try {
          collect(bytes, [])
        } catch (error) {
          expect(error).toMatchObject({ name: 'HttpError' })
        }
      }),
    )
  })
})

describe('line ends', () => {
  const lines = ['data: {"jsonrpc":"2.0",', 'data: "method":"a"}', '', ': comment', '', '']
  const messagesOf = (text: string, size: number): RpcMessage[] => {
    const heard: RpcMessage[] = []
    const feed = createEventStreamReader({
      origin: 'http://localhost',
      bounds: defaultBounds,
      maxBytes: 1e9,
      onMessage: (message) => heard.push(message),
    })
    for (let at = 0; at < text.length; at += size) feed(new TextEncoder().encode(text.slice(at, at + size)))
    return heard
  }

  test.each([
    ['LF', '\n'],
    ['CR', '\r'],
    ['CRLF', '\r\n'],
  ])('of %s mean the same, however the chunks are cut', (_title, end) => {
    const text = [...lines, ...lines].join(end)
    for (let size = 1; size <= text.length; size += 1) {
      const message = { jsonrpc: '2.0', method: 'a' }
      expect(messagesOf(text, size)).toEqual([message, message])
    }
  })

  test('of bare CR are found in no more steps than those of LF', () => {
    const searched = (text: string): number => {
      let steps = 0
      const { indexOf } = String.prototype
      using _counting = vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (
        this: string,
        part,
        from = 0,
      ) {
        const at = indexOf.call(this, part, from)
        steps += (at < 0 ? this.length : at) - from
        return at
      })
      messagesOf(text, 65_536)
      return steps
    }
    const comments = ': x\n'.repeat(10_000)
    expect(searched(comments.replaceAll('\n', '\r'))).toBeLessThanOrEqual(2 * searched(comments))
  })

  test.each(['\r', '\r\n'])(
    'of %j are replaced in the bytes, since a replacement in text cost five times the parsing of an empty line',
    (end) => {
      const text = end.repeat(10_000)
      using replacing = vi.spyOn(String.prototype, 'replaceAll')
      messagesOf(text, 65_536)
      expect(replacing).not.toHaveBeenCalled()
    },
  )
})
