import type { Exchange } from '@x/exchange'
import type { RpcNotification } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { createClient } from '../create-client.ts'
import { withClientConstants } from './options.ts'
import type { LogMessage, Progress } from './call-options.ts'
import { manualClock } from '@tooling/vitest/manual-clock'
import {
  hostInfo,
  pendingPromise,
  createTextResult,
  createScriptedExchange,
  createToolsPage,
} from '../testing/scripted-exchange.ts'

const progress = (token: unknown, value: unknown, more: object = {}): RpcNotification => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: token as string, progress: value as number, ...more },
})

describe('Cancelling', () => {
  test('rejects with the reason, and aborts the signal of the exchange [CAN-010]', async () => {
    const exchange = createScriptedExchange(() => pendingPromise)
    const client = createClient(exchange, hostInfo)
    const controller = new AbortController()
    const running = client.callTool('slow', {}, { signal: controller.signal })
    const other = client.callTool('other')
    await Promise.resolve()
    const reason = { why: 'the user left' }
    controller.abort(reason)
    await expect(running).rejects.toBe(reason)
    const signals = exchange.received.map(({ call }) => call.signal)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    expect(signals[0]?.reason).toBe(reason)
    void other
  })

  test('before the call sends nothing, even with a cached result', async () => {
    const exchange = createScriptedExchange(() => createToolsPage([]))
    const client = createClient(exchange, hostInfo)
    const reason = new Error('too late')
    const signal = AbortSignal.abort(reason)
    await expect(client.callTool('greet', {}, { signal })).rejects.toBe(reason)
    await expect(client.listTools({ signal })).rejects.toBe(reason)
    await expect(client.readResource('a:b', { signal })).rejects.toBe(reason)
    expect(exchange.received).toHaveLength(0)
  })

  test('after the end does nothing [CAN-010]', async () => {
    const exchange = createScriptedExchange(() => createTextResult('hi'))
    const controller = new AbortController()
    await createClient(exchange, hostInfo).callTool('greet', {}, { signal: controller.signal })
    controller.abort()
    expect(exchange.received[0]?.call.signal.aborted).toBe(false)
  })

  test('between two tries of one call has the same effect', async () => {
    const controller = new AbortController()
    const exchange = createScriptedExchange(() => {
      queueMicrotask(() => queueMicrotask(() => controller.abort(new Error('in between'))))
      return { error: { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } } }
    })
    const constants = withClientConstants({ versions: ['2031-01-01', '2026-07-28'] })
    const client = createClient(exchange, { ...hostInfo, ...constants })
    await expect(client.callTool('greet', {}, { signal: controller.signal })).rejects.toThrow('in between')
  })

  test('a hundred calls with one signal makes no warning, and reaches each', async () => {
    const warnings: unknown[] = []
    const listen = (warning: unknown): void => void warnings.push(warning)
    process.on('warning', listen)
    const exchange = createScriptedExchange(() => pendingPromise)
    const client = createClient(exchange, hostInfo)
    const controller = new AbortController()
    const { signal } = controller
    const all = Array.from({ length: 100 }, () =>
      client.callTool('slow', {}, { signal }).catch((error: unknown) => error),
    )
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', listen)
    controller.abort('stop')
    expect(new Set(await Promise.all(all))).toEqual(new Set(['stop']))
    expect(exchange.received.every(({ call }) => call.signal.aborted)).toBe(true)
    expect(warnings).toEqual([])
  })

  test('ignores the response that comes all the same [CAN-013]', async () => {
    let answer = (): void => {}
    const late = new Promise<ReturnType<typeof createTextResult>>((resolve) => {
      answer = () => resolve(createTextResult('late'))
    })
    const reported: Progress[] = []
    const exchange = createScriptedExchange(() => late)
    const controller = new AbortController()
    const options = { signal: controller.signal, onProgress: (one: Progress) => void reported.push(one) }
    const running = createClient(exchange, hostInfo).callTool('slow', {}, options)
    await Promise.resolve()
    controller.abort(new Error('stop'))
    answer()
    const { call, request } = exchange.received[0] ?? {}
    call?.notify(progress(request?.id, 1))
    await expect(running).rejects.toThrow('stop')
    expect(reported).toEqual([])
  })
})

describe('The time of a call', () => {
  test('ends after 60 seconds unless configured, and cancels the request [CAN-006 CAN-007 TOL-043]', async () => {
    const clock = manualClock()
    const exchange = createScriptedExchange(() => pendingPromise)
    const running = createClient(exchange, { ...hostInfo, runtime: clock }).callTool('slow')
    const failure = running.catch((error: unknown) => error)
    clock.advance(59_999)
    expect(exchange.received[0]?.call.signal.aborted).toBe(false)
    clock.advance(1)
    expect(await failure).toMatchObject({ code: 'timeout', method: 'tools/call', target: 'slow' })
    expect(exchange.received[0]?.call.signal.aborted).toBe(true)
    expect(clock.waiting).toBe(0)
  })

  test('may be set for one call [CAN-008]', async () => {
    const clock = manualClock()
    const running = createClient(
      createScriptedExchange(() => pendingPromise),
      { ...hostInfo, runtime: clock },
    ).callTool('slow', {}, { timeoutMs: 5 })
    clock.advance(5)
    await expect(running).rejects.toThrow('neither response nor progress for 5 ms')
  })

  test('is extended by progress, with or without a listener, up to ten times its limit [CAN-009]', async () => {
    const clock = manualClock()
    const exchange = createScriptedExchange(() => pendingPromise)
    const running = createClient(exchange, { ...hostInfo, runtime: clock, timeoutMs: 100 }).callTool('slow')
    const failure = running.catch((error: unknown) => error)
    const { call, meta } = exchange.received[0] ?? {}
    for (let value = 1; value <= 12; value += 1) {
      clock.advance(80)
      call?.notify(progress(meta?.progressToken, value))
      expect(call?.signal.aborted).toBe(false)
    }
    clock.advance(40)
    expect(await failure).toMatchObject({ message: expect.stringContaining('no response within 1000 ms') })
  })

  test.each([
    ['of another call', progress('other', 1)],
    ['without a number', progress(1, 'x')],
    ['without params', { jsonrpc: '2.0', method: 'notifications/progress' } as const],
  ])('is not extended by progress %s', async (_title, notification) => {
    const clock = manualClock()
    const exchange: Exchange = async (_request, call) => {
      clock.advance(50)
      call.notify(notification)
      return new Promise(() => {})
    }
    const reported: Progress[] = []
    const client = createClient(exchange, { ...hostInfo, runtime: clock, timeoutMs: 100 })
    const running = client.callTool('slow', {}, { onProgress: (one) => void reported.push(one) })
    const failure = running.catch((error: unknown) => error)
    clock.advance(50)
    expect(await failure).toMatchObject({ code: 'timeout' })
    expect(reported).toEqual([])
  })

  test('leaves no timer behind, however the exchange ends', async () => {
    const clock = manualClock()
    await createClient(
      createScriptedExchange(() => createTextResult('hi')),
      { ...hostInfo, runtime: clock },
    ).callTool('greet')
    const throwing: Exchange = () => {
      throw new Error('broken')
    }
    await expect(createClient(throwing, { ...hostInfo, runtime: clock }).callTool('greet')).rejects.toMatchObject({
      code: 'transport',
    })
    expect(clock.waiting).toBe(0)
  })
})

describe('What comes with a call', () => {
  test('progress and log messages reach their listeners without members of other messages', async () => {
    const progressed: Progress[] = []
    const logged: LogMessage[] = []
    const exchange = createScriptedExchange(({ call, meta }) => {
      call.notify(progress(meta.progressToken, 0.5, { total: 1, message: 'half', extra: 1 }))
      call.notify(progress(meta.progressToken, 0.7, { total: 'x' }))
      for (const level of ['warning', 'loud']) {
        call.notify({
          jsonrpc: '2.0',
          method: 'notifications/message',
          params: { level, logger: 'db', data: { a: 1 } },
        })
      }
      return createTextResult('hi')
    })
    await createClient(exchange, hostInfo).callTool(
      'greet',
      {},
      {
        onProgress: (one) => void progressed.push(one),
        onLog: (one) => void logged.push(one),
      },
    )
    expect(progressed).toEqual([{ progress: 0.5, total: 1, message: 'half' }, { progress: 0.7 }])
    expect(logged).toEqual([{ level: 'warning', logger: 'db', data: { a: 1 } }])
    expect(exchange.received[0]?.meta['io.modelcontextprotocol/logLevel']).toBe('info')
  })

  test('a listener that throws fails its call with what it threw, and cancels it', async () => {
    const reason = new Error('listener broke')
    const exchange = createScriptedExchange(({ call, meta }) => {
      call.notify(progress(meta.progressToken, 1))
      return pendingPromise
    })
    const onProgress = (): void => {
      throw reason
    }
    await expect(createClient(exchange, hostInfo).callTool('greet', {}, { onProgress })).rejects.toBe(reason)
    expect(exchange.received[0]?.call.signal.aborted).toBe(true)
  })

  test('log messages are not asked for without a listener', async () => {
    const exchange = createScriptedExchange(() => createTextResult('hi'))
    await createClient(exchange, hostInfo).callTool('greet')
    expect(exchange.received[0]?.meta).not.toHaveProperty(['io.modelcontextprotocol/logLevel'])
  })
})
