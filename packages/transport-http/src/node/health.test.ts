import { connect } from 'node:net'
import { createServer as createMcpServer, sealedState, tool } from '@x/server'
import { sheddingSettings } from '@x/server/internals'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { echo, pendingCalls, resultOf, testServer } from '../testing/exchanges.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { bodyOf, connectRaw, headOf, requestOf } from '../testing/raw.ts'
import { type HttpServer, serveHttp, startHttpServer } from './serve-http.ts'

/** Asks for a path as a balancer does, over a connection of its own and by an address. */
async function check({ port }: HttpServer, path: string, method = 'GET'): Promise<[number, string]> {
  const raw = connectRaw(port)
  raw.send(`${method} ${path} HTTP/1.1\r\nHost: 10.0.0.7\r\nConnection: close\r\n\r\n`)
  const [head = '', body = ''] = (await raw.waitForClose()).split('\r\n\r\n')
  return [Number(head.split(' ')[1]), body.trim()]
}

test('health checks are answered for every Host without a call of the exchange', async () => {
  const exchange = vi.fn(echo)
  await using http = await serveHttp(testServer(exchange))
  expect(await check(http, '/healthz')).toEqual([200, '{"ok":true}'])
  expect(await check(http, '/readyz?verbose=1')).toEqual([200, '{"ok":true}'])
  expect(await check(http, '/readyz', 'HEAD')).toEqual([200, ''])
  expect(await check(http, '/readyz', 'POST')).toEqual([405, ''])
  expect((await check(http, '/health'))[0]).toBe(404)
  expect(exchange).not.toHaveBeenCalled()
})

test('an exchange that is overloaded is not ready, and lives', async () => {
  const load = { ready: false, draining: false, running: 0, unavailable: [] }
  await using http = await serveHttp(testServer(echo, { load }))
  expect(await check(http, '/readyz')).toEqual([503, '{"ok":false}'])
  expect(await check(http, '/healthz')).toEqual([200, '{"ok":true}'])
  load.ready = true
  expect((await check(http, '/readyz'))[0]).toBe(200)
})

test.each<[string, () => Promise<boolean>]>([
  ['says no', () => Promise.resolve(false)],
  ['rejects', () => Promise.reject(new Error('the database is unreachable'))],
])('a server whose readiness %s is not ready, and lives', async (_, ready) => {
  await using http = await serveHttp(testServer(echo, { ready }))
  expect(await check(http, '/readyz')).toEqual([503, '{"ok":false}'])
  expect(await check(http, '/healthz')).toEqual([200, '{"ok":true}'])
})

describe('with a clock of the test', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  test('an issuer that cannot be reached is logged when the server starts, once for each outage', async () => {
    const log = vi.fn()
    const unreachable = Object.assign(new Error('The issuer is unreachable'), { code: 'issuer_unavailable' })
    const ready = vi.fn((): Promise<void> => Promise.reject(unreachable))
    const auth = { authenticate: () => ({ subject: 'ada' }), ready }
    await using http = await serveHttp(testServer(echo, { log }), { auth, keepAliveMs: 0, timeoutMs: 0 })
    await expect.poll(() => log.mock.calls.length).toBe(1)
    expect(log).toHaveBeenCalledWith(expect.objectContaining({ level: 'error', code: 'issuer_unavailable' }))
    const probe = async (): Promise<number> => {
      vi.advanceTimersByTime(1000)
      return (await check(http, '/readyz'))[0]
    }
    expect([await probe(), await probe(), log.mock.calls.length]).toEqual([503, 503, 1])
    ready.mockImplementationOnce(() => Promise.resolve())
    expect([await probe(), log.mock.calls.length]).toEqual([200, 1])
    expect([await probe(), log.mock.calls.length]).toEqual([503, 2])
  })

  test('a server whose readiness is never decided is not ready after 5 seconds', async () => {
    const ready = vi.fn(() => new Promise<boolean>(() => {}))
    await using http = await serveHttp(testServer(echo, { ready }))
    const answer = check(http, '/readyz')
    while (ready.mock.calls.length === 0) await new Promise((resolve) => setImmediate(resolve))
    vi.advanceTimersByTime(5000)
    expect(await answer).toEqual([503, '{"ok":false}'])
  })

  test('checks within a second share one answer, which never hides a stop', async () => {
    const ready = vi.fn(() => Promise.resolve(true))
    const { exchange, next } = pendingCalls()
    const http = await serveHttp(testServer(exchange, { ready }), { keepAliveMs: 0, timeoutMs: 0 })
    for (const expected of [1, 2]) {
      expect((await Promise.all([check(http, '/readyz'), check(http, '/readyz')])).map(([status]) => status)).toEqual([
        200, 200,
      ])
      vi.advanceTimersByTime(999)
      expect((await check(http, '/readyz'))[0]).toBe(200)
      expect(ready).toHaveBeenCalledTimes(expected)
      vi.advanceTimersByTime(1)
    }
    await check(http, '/readyz')
    const open = connectRaw(http.port)
    open.send(requestOf('tools/list', 1))
    const call = await next()
    const closing = http.close({ noticeMs: 1000 })
    expect((await check(http, '/readyz'))[0]).toBe(503)
    expect(ready).toHaveBeenCalledTimes(3)
    call.answer()
    vi.advanceTimersByTime(1000)
    await closing
  })
})

test('a server that stops gives notice: it is not ready and still serves, and only then refuses', async () => {
  const { exchange, next } = pendingCalls()
  const clock = createManualClock()
  const drained: string[] = []
  const drain = () => {
    drained.push('drain')
    return () => void drained.push('back')
  }
  const attachHost = () => async () => void drained.push('closed')
  const server = testServer(exchange, { drain, attachHost })
  const http = await startHttpServer(server, { keepAliveMs: 0, timeoutMs: 0 }, clock)
  const closing = http.close({ noticeMs: 3000, graceMs: 5000 })
  expect([await check(http, '/readyz'), await check(http, '/healthz')]).toEqual([
    [503, '{"ok":false}'],
    [200, '{"ok":true}'],
  ])
  const raw = connectRaw(http.port)
  raw.send(requestOf('tools/list', 1))
  const first = await next()
  first.answer()
  // The client of this answer sends its next call over another connection, to another instance.
  expect(await raw.waitForClose()).toMatch(/Connection: close[^]*"id":1/)
  expect(drained).toEqual(['drain'])
  const late = connectRaw(http.port)
  const request = requestOf('tools/list', 3)
  late.send(request.slice(0, 10))
  const busy = connectRaw(http.port)
  busy.send(requestOf('tools/list', 2))
  const second = await next()
  clock.advance(3000)
  await expect.poll(() => drained).toEqual(['drain', 'drain'])
  late.send(request.slice(10))
  expect(await late.waitForClose()).toMatch(/HTTP\/1.1 503 [^]*The server is stopping/)
  second.answer()
  await closing
  expect(drained).toEqual(['drain', 'drain', 'closed', 'back', 'back'])
  expect(clock.countTimers()).toBe(0)
})

test('a check over an open connection is answered while calls are rejected, and closes it', async () => {
  const { exchange, next } = pendingCalls()
  const http = await serveHttp(testServer(exchange))
  const balancer = connectRaw(http.port)
  const get = 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n'
  balancer.send(get)
  await balancer.readUntil('{"ok":true}')
  const busy = connectRaw(http.port)
  busy.send(requestOf('tools/list', 1))
  const call = await next()
  const closing = http.close()
  balancer.send(get)
  expect(await balancer.waitForClose()).toMatch(/503 [^]*Connection: close[^]*\{"ok":false\}/)
  call.answer()
  expect(await busy.waitForClose()).toContain('200 OK')
  await closing
})

test('running calls of a server that closes are handed off at the end of their step, and other hosts continue', async () => {
  let finish = () => {}
  const work = tool('work', {
    description: 'Works',
    run: (_, ctx) =>
      ctx.step('long', async () => {
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        return 'worked'
      }),
  })
  const keys = ['790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef']
  const about = { name: 'demo', version: '1', state: sealedState({ keys }), strictReplay: false }
  const server = createMcpServer({ ...about, shedding: sheddingSettings({ calls: 'all' }), tools: [work] })
  const http = await serveHttp(server)
  const raw = connectRaw(http.port)
  const body = bodyOf('tools/call', 1, '"name":"work",')
  raw.send(headOf('tools/call', ['Mcp-Name: work', `Content-Length: ${body.length}`]) + body)
  await expect.poll(() => server.load.running).toBe(1)
  const closing = http.close()
  expect(server.load).toMatchObject({ ready: false, draining: true })
  finish()
  expect(await raw.waitForClose()).toMatch(/200 OK[^]*"resultType":"input_required","requestState":"/)
  await closing
  expect(server.load).toMatchObject({ ready: true, draining: false, counters: { handOffs: { stopping: 1 } } })
})

test.each(['SIGTERM', 'SIGINT'] as const)('%s stops a server with stopOnSignals once', async (signal) => {
  const others = process.listeners(signal)
  const http = await serveHttp(
    testServer(async (request) => resultOf(request)),
    { stopOnSignals: { graceMs: 1000 } },
  )
  const added = process.listeners(signal).filter((listener) => !others.includes(listener))
  expect(added).toHaveLength(1)
  process.emit(signal)
  await http.close()
  expect(process.listeners(signal)).toEqual(others)
  const socket = connect({ port: http.port, host: '127.0.0.1' })
  await expect(new Promise((resolve, reject) => socket.on('connect', resolve).on('error', reject))).rejects.toThrow(
    'ECONNREFUSED',
  )
})

test('a server that is closed, or has no stopOnSignals, leaves signals alone', async () => {
  const before = process.listenerCount('SIGTERM')
  await using quiet = await serveHttp(testServer(echo))
  expect(process.listenerCount('SIGTERM')).toBe(before)
  const http = await serveHttp(testServer(echo), { stopOnSignals: true })
  expect(process.listenerCount('SIGTERM')).toBe(before + 1)
  await http.close()
  expect(process.listenerCount('SIGTERM')).toBe(before)
  expect(quiet.port).toBeGreaterThan(0)
})

test.each([
  ['ten seconds by default', true, 10_000],
  ['as long as the option says', { graceMs: 20 }, 20],
])('extensions have the same grace as calls: %s', async (_, stopOnSignals, graceMs) => {
  const server = createMcpServer({ name: 'tasks', version: '1.0.0', state: false })
  const close = vi.fn(async () => {})
  const http = await serveHttp(Object.assign(server, { attachHost: () => close }), { stopOnSignals })
  process.emit('SIGTERM')
  await http.close()
  expect(close.mock.calls).toEqual([[{ graceMs }]])
})

test('a `close` that never ends does not hold up a stop, and a warning says so', async () => {
  const clock = createManualClock()
  const log = vi.fn()
  let noteClose = (): void => {}
  const closeBegan = new Promise<void>((resolve) => (noteClose = resolve))
  const close = (): Promise<void> => {
    noteClose()
    return new Promise(() => {})
  }
  const server = testServer(echo, { log, attachHost: () => close })
  const http = await startHttpServer(server, {}, { schedule: clock.schedule })
  const closing = http.close({ graceMs: 1000 })
  await closeBegan
  clock.advance(6000)
  await closing
  expect(log.mock.calls).toMatchObject([[{ level: 'warn', message: expect.stringContaining('within 6000 ms') }]])
  expect(clock.countTimers()).toBe(0)
})
