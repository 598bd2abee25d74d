import { describe, expect, test } from 'vitest'
import { manualClock } from '@tooling/vitest/manual-clock'
import { callWith, formatEvent, rpcRequest, rpcResult, scriptedServer } from '../testing/scripted-server.ts'
import { type Connect, senders } from '../testing/senders.ts'

const minutes = 60_000

describe.each(senders)('A call over %s', (_name, connect: Connect) => {
  test('is cancelled by closing its stream, which the server sees [CAN-007]', async () => {
    await using server = await scriptedServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n')
    })
    await using connection = connect(server.url)
    const controller = new AbortController()
    const arrived = server.next()
    const running = connection.exchange(rpcRequest(), callWith(controller.signal)).catch((error: unknown) => error)
    const { closed } = await arrived
    const reason = new Error('changed my mind')
    controller.abort(reason)
    expect(await running).toBe(reason)
    await closed
    expect(server.received).toHaveLength(1)
  })

  test('is not sent when its signal has aborted already', async () => {
    await using server = await scriptedServer(() => {})
    await using connection = connect(server.url)
    const reason = new Error('too late')
    await expect(connection.exchange(rpcRequest(), callWith(AbortSignal.abort(reason)))).rejects.toBe(reason)
    expect(server.countConnections()).toBe(0)
  })

  test('leaves no timer and no listener behind', async () => {
    await using server = await scriptedServer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(rpcResult()))
    })
    const clock = manualClock()
    await using connection = connect(server.url, { runtime: clock })
    const controller = new AbortController()
    await connection.exchange(rpcRequest(), callWith(controller.signal))
    expect(clock.waiting).toBe(0)
    controller.abort()
    expect(await connection.exchange(rpcRequest(), callWith())).toEqual(rpcResult())
  })

  test('ends when no headers come for half an hour, and the server sees the end [CAN-006 CAN-007]', async () => {
    await using server = await scriptedServer(() => {})
    const clock = manualClock()
    await using connection = connect(server.url, { runtime: clock })
    const arrived = server.next()
    const running = connection.exchange(rpcRequest(), callWith()).catch((error: unknown) => error)
    const { closed } = await arrived
    clock.advance(30 * minutes - 1)
    clock.advance(1)
    expect(await running).toMatchObject({ code: 'timeout', message: expect.stringContaining('1800000 ms') })
    await closed
  })

  test('a half-open stream ends when nothing has come for half an hour, comments counting as something', async () => {
    let write = (_text: string): void => {}
    await using server = await scriptedServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      write = (text) => void response.write(text)
      write(': hello\n\n')
    })
    const clock = manualClock()
    const heardOf = { count: 0, wake: (): void => {} }
    const call = { ...callWith(), notify: () => heardOf.wake() }
    await using connection = connect(server.url, { runtime: clock })
    const running = connection.exchange(rpcRequest(), call).catch((error: unknown) => error)
    await server.next()
    for (let round = 0; round < 3; round += 1) {
      const came = new Promise<void>((resolve) => {
        heardOf.wake = resolve
      })
      write(`: comment\n\n${formatEvent({ jsonrpc: '2.0', method: 'notifications/message', params: {} })}`)
      await came
      clock.advance(29 * minutes)
    }
    clock.advance(minutes)
    expect(await running).toMatchObject({ code: 'timeout', message: expect.stringContaining('1800000 ms') })
  })

  test('a stream that is quiet for 20 minutes is not closed', async () => {
    let finish = (): void => {}
    await using server = await scriptedServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n')
      finish = () => response.end(formatEvent(rpcResult()))
    })
    const clock = manualClock()
    await using connection = connect(server.url, { runtime: clock })
    const arrived = server.next()
    const running = connection.exchange(rpcRequest('subscriptions/listen', { notifications: {} }), callWith())
    await arrived
    clock.advance(20 * minutes)
    finish()
    expect(await running).toEqual(rpcResult())
  })

  test.each([
    ['after a second, when the server leaves it open', ''],
    ['at once, when the server never ends its answer', `: ${'x'.repeat(200_000)}\n`],
  ])('has its stream closed after the response %s', async (_title, rest) => {
    await using server = await scriptedServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(formatEvent(rpcResult()) + rest)
    })
    const clock = manualClock()
    await using connection = connect(server.url, { runtime: clock })
    const arrived = server.next()
    expect(await connection.exchange(rpcRequest(), callWith())).toEqual(rpcResult())
    if (rest === '') clock.advance(1000)
    const { closed } = await arrived
    await closed
  })
})
