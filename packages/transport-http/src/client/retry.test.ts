import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { resolveOptions } from '@x/core'
import { manualClock } from '@tooling/vitest/manual-clock'
import { callWith, createJsonAnswer, rpcRequest, rpcResult, scriptedServer } from '../testing/scripted-server.ts'
import { type Connect, senders } from '../testing/senders.ts'
import { createConnection, type HttpConnection } from './connect.ts'
import { connectHttp } from './connect-node.ts'
import { toHttpError, isUnsent } from './platform-error.ts'
import { connectOptionTable, type HttpConnectOptions } from './options.ts'
import type { Sender } from './sender.ts'

const refused = (): Error => Object.assign(new Error('refused'), { code: 'ECONNREFUSED', syscall: 'connect' })

/** Creates a sender that fails in the given ways and counts its requests. */
function failing(...failures: Error[]): { sender: Sender; tries: () => number } {
  let tries = 0
  const send: Sender['send'] = async () => {
    tries += 1
    const failure = failures[tries - 1]
    if (failure) throw failure
    return {
      status: 200,
      header: (name) => (name === 'content-type' ? 'application/json' : undefined),
      read: async (take) => take(new TextEncoder().encode(JSON.stringify(rpcResult()))),
      stop: () => {},
    }
  }
  return { sender: { send, isContentDecoded: false, close: async () => {} }, tries: () => tries }
}

const connectWith = (options: HttpConnectOptions, sender: Sender): HttpConnection =>
  createConnection('http://test/mcp', resolveOptions(options, connectOptionTable, 'connectHttp'), sender)

const flush = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

describe('A request that could not be sent', () => {
  test('is tried three times, after pauses that grow and vary', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0)
    onTestFinished(() => random.mockRestore())
    const clock = manualClock()
    const { sender, tries } = failing(refused(), refused())
    const connection = connectWith({ runtime: clock }, sender)
    const running = connection.exchange(rpcRequest(), callWith())
    const seen: number[] = []
    for (const pause of [99, 1, 199, 1]) {
      await flush()
      clock.advance(pause)
      await flush()
      seen.push(tries())
    }
    expect(seen).toEqual([1, 2, 2, 3])
    expect(await running).toEqual(rpcResult())
  })

  test.each<[string, HttpConnectOptions, number]>([
    ['three times by default', {}, 3],
    ['once when retries are off', { retry: false }, 1],
  ])('is tried %s', async (_title, options, expected) => {
    const clock = manualClock()
    const { sender, tries } = failing(...Array.from({ length: 9 }, refused))
    const connection = connectWith({ ...options, runtime: clock }, sender)
    const failure = connection.exchange(rpcRequest(), callWith()).catch((error: unknown) => error)
    for (let round = 0; round < 9; round += 1) {
      await flush()
      clock.advance(2000)
    }
    expect(await failure).toMatchObject({ code: 'refused', message: expect.stringContaining('ECONNREFUSED') })
    expect(tries()).toBe(expected)
  })

  test('is given up during a pause when its caller cancels', async () => {
    const clock = manualClock()
    const { sender, tries } = failing(refused())
    const controller = new AbortController()
    const connection = connectWith({ runtime: clock }, sender)
    const running = connection.exchange(rpcRequest(), callWith(controller.signal))
    await flush()
    controller.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
    expect([tries(), clock.waiting]).toEqual([1, 0])
  })
})

describe('What may have reached the server is never sent again', () => {
  test.each([
    ['a connection that was reset', { code: 'ECONNRESET' }],
    ['a socket that closed after bytes were written', { code: 'UND_ERR_SOCKET', socket: { bytesWritten: 10 } }],
    ['an unknown error', {}],
  ])('%s', async (_title, fields) => {
    const { sender, tries } = failing(Object.assign(new Error('broken'), fields))
    const connection = connectWith({}, sender)
    await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({ code: 'closed' })
    expect(tries()).toBe(1)
  })

  test.each(senders)('a server that hangs up on a request over %s', async (_name, connect: Connect) => {
    await using server = await scriptedServer((response) => response.destroy())
    await using connection = connect(server.url)
    await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({ code: 'closed' })
    expect(server.received).toHaveLength(1)
  })
})

test.each(senders)(
  'over %s a server that starts late is reached by the second try',
  async (_name, connect: Connect) => {
    const { port } = await scriptedServer(() => {}).then(async (server) => {
      await server[Symbol.asyncDispose]()
      return server
    })
    const timers: (() => void)[] = []
    let paused = (): void => {}
    const pausing = new Promise<void>((resolve) => {
      paused = resolve
    })
    // The pause before the second try is the only timer of less than a second.
    const setTimeout = (callback: () => void, ms: number): void => {
      if (ms >= 1000) return
      timers.push(callback)
      paused()
    }
    const clock = { ...manualClock(), setTimeout }
    await using connection = connect(`http://127.0.0.1:${port}/mcp`, { runtime: clock })
    const running = connection.exchange(rpcRequest(), callWith())
    await pausing
    await using server = await scriptedServer(createJsonAnswer(rpcResult()), port)
    for (const timer of timers) timer()
    expect(await running).toEqual(rpcResult())
    expect(server.received).toHaveLength(1)
  },
)

test('a connection that does not open in time is a timeout', async () => {
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const address = silent.address()
  const port = typeof address === 'object' ? address?.port : 0
  const connection = connectHttp(`https://127.0.0.1:${port}/mcp`, { connect: { timeout: 20 } })
  await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({ code: 'timeout' })
  await connection.close()
  silent.close()
})

test.each([
  ['a refused connection', refused(), true],
  ['a name that is not known', Object.assign(new Error(), { code: 'ENOTFOUND', syscall: 'getaddrinfo' }), true],
  ['the same inside the TypeError of fetch', new TypeError('fetch failed', { cause: refused() }), true],
  ['every address refused', Object.assign(new AggregateError([refused(), refused()]), { code: 'ECONNREFUSED' }), true],
  ['one address refused, another reset', new AggregateError([refused(), new Error()]), false],
  [
    'a socket without a byte written',
    Object.assign(new Error(), { code: 'UND_ERR_SOCKET', socket: { bytesWritten: 0 } }),
    true,
  ],
  ['a TypeError that says nothing', new TypeError('Failed to fetch'), false],
  ['a certificate that is not believed', Object.assign(new Error('x'), { code: 'CERT_HAS_EXPIRED' }), false],
  ['what is no error', 'refused', false],
])('%s proves that nothing was sent: %o', (_title, error, expected) => {
  expect(isUnsent(error)).toBe(expected)
})

test.each([
  ['HPE_INVALID_CONSTANT', 'protocol'],
  ['UND_ERR_HEADERS_OVERFLOW', 'protocol'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['ECONNREFUSED', 'refused'],
  ['ENOTFOUND', 'connect'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate'],
  ['INVALID_PURPOSE', 'certificate'],
  ['CRL_HAS_EXPIRED', 'certificate'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate'],
  ['EPIPE', 'closed'],
])('%s is reported as %s', (code, expected) => {
  expect(toHttpError(Object.assign(new Error(), { code }), 'http://test')).toMatchObject({ code: expected })
})

test('an https: URL of a server that speaks plain HTTP is reported as that, and not as a certificate', async () => {
  await using server = await scriptedServer(createJsonAnswer(rpcResult()))
  await using connection = connectHttp(server.url.replace('http:', 'https:'))
  const error = await connection.exchange(rpcRequest(), callWith()).then(String, (thrown: unknown) => thrown)
  expect(error).toMatchObject({ mayHaveRun: false })
  expect(String(error)).toMatch(/no TLS connection \(ERR_SSL_\w+\): .* its URL begins with http:/)
})
