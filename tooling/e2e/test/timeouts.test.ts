import { manualClock } from '@tooling/vitest/manual-clock'
import { tool } from '@x/server'
import { expect, test } from 'vitest'
import { createGate } from '@tooling/vitest/gate'
import { overEveryTransport } from './over-every-transport.ts'

/** Creates a tool that waits until it is cancelled and reports progress when the test calls `report`. */
function createWaitingTool() {
  const [started, stopped] = [createGate(), createGate()]
  let report = (): void => {}
  const waits = tool('waits', {
    description: 'Waits until it is cancelled',
    run: (_, ctx) =>
      new Promise<string>((resolve) => {
        let steps = 0
        report = () => ctx.progress((steps += 1))
        ctx.signal.addEventListener('abort', () => {
          stopped.open()
          resolve('too late')
        })
        started.open()
      }),
  })
  return { started, stopped, waits, report: () => report() }
}

overEveryTransport('the timeout of a call', (serve) => {
  test.each([
    ['60 seconds (the default)', {}, {}, 60_000],
    ['the option of the client', { timeoutMs: 500 }, {}, 500],
    ['the option of the call', { timeoutMs: 500 }, { timeoutMs: 7000 }, 7000],
  ])('without a message is %s, then the signal of the handler aborts [CAN-006 CAN-007 CAN-008]', async (...row) => {
    const [, options, callOptions, time] = row
    const { started, stopped, waits } = createWaitingTool()
    await using served = await serve({ tools: [waits] })
    const clock = manualClock()
    const { client } = served.connect({ runtime: clock, ...options })
    const outcomes: unknown[] = []
    const call = client.callTool('waits', {}, callOptions).catch((error: unknown) => outcomes.push(error))
    await started.opened
    clock.advance(time - 1)
    expect(clock.waiting).toBe(1)
    clock.advance(1)
    await call
    expect(outcomes).toMatchObject([{ name: 'ClientError', code: 'timeout', method: 'tools/call', target: 'waits' }])
    await stopped.opened
    expect(clock.waiting).toBe(0)
  })

  test('is extended by progress up to ten times, then the signal of the handler aborts [CAN-007 CAN-009]', async () => {
    const { started, stopped, waits, report } = createWaitingTool()
    await using served = await serve({ tools: [waits] })
    const clock = manualClock()
    const { client } = served.connect({ runtime: clock, timeoutMs: 100 })
    let arrived = createGate()
    const call = client.callTool('waits', {}, { onProgress: () => arrived.open() })
    const failure = call.catch((error: unknown) => error)
    await started.opened
    for (let now = 90; now <= 990; now += 90) {
      clock.advance(90)
      arrived = createGate()
      report()
      await arrived.opened
      expect([clock.monotonicNow(), clock.waiting]).toEqual([now, 1])
    }
    clock.advance(10)
    expect(await failure).toMatchObject({ code: 'timeout', message: expect.stringContaining('1000 ms') })
    await stopped.opened
  })

  test('of one call is independent of other calls on the same connection', async () => {
    const { started, stopped, waits } = createWaitingTool()
    const gate = createGate()
    const slow = tool('slow', { description: 'Waits for a gate', run: () => gate.opened.then(() => 'slow') })
    await using served = await serve({ tools: [waits, slow] })
    const clock = manualClock()
    const { client } = served.connect({ runtime: clock })
    const other = client.callTool('slow')
    const failure = client.callTool('waits', {}, { timeoutMs: 10 }).catch((error: unknown) => error)
    await started.opened
    clock.advance(10)
    expect(await failure).toMatchObject({ code: 'timeout' })
    await stopped.opened
    gate.open()
    expect((await other).content).toEqual([{ type: 'text', text: 'slow' }])
  })
})
