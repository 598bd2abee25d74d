import type { Exchange } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { createInputRequired, createSequentialExchange, nameFormRequest, flushPromises } from '../testing/asking.ts'
import { createClient } from '../create-client.ts'
import { manualClock } from '@tooling/vitest/manual-clock'
import { hostInfo, pendingPromise, createTextResult } from '../testing/scripted-exchange.ts'

const accept = { action: 'accept', content: { name: 'Ada' } } as const

describe('Time', () => {
  test('does not end a question by itself', async () => {
    const clock = manualClock()
    let answer = (_value: typeof accept): void => {}
    const exchange = createSequentialExchange(createInputRequired({ who: nameFormRequest }))
    const open = new Promise<typeof accept>((resolve) => {
      answer = resolve
    })
    const result = createClient(exchange, { ...hostInfo, runtime: clock, elicit: () => open }).callTool('greet')
    await flushPromises()
    clock.advance(86_400_000)
    answer(accept)
    expect(await result).toEqual(createTextResult('done'))
  })

  test.each([
    ['the answers of a round', { answerTimeoutMs: 1000 }, 'no answer to "who" within 1000 ms'],
    ['the whole call', { totalTimeoutMs: 1000 }, 'not complete within 1000 ms, answers included'],
  ])('can be limited for %s, and the question is closed', async (_title, rounds, words) => {
    const clock = manualClock()
    const exchange = createSequentialExchange(createInputRequired({ who: nameFormRequest }))
    let signal: AbortSignal | undefined
    const client = createClient(exchange, {
      ...hostInfo,
      runtime: clock,
      rounds,
      elicit: (_question, context) => ((signal = context.signal), pendingPromise as never),
    })
    const result = client.callTool('greet')
    const failure = result.catch((error: unknown) => error)
    await flushPromises()
    clock.advance(999)
    await flushPromises()
    expect(signal?.aborted).toBe(false)
    clock.advance(1)
    expect(await failure).toMatchObject({ code: 'timeout', message: expect.stringContaining(words) })
    expect([signal?.aborted, exchange.received.length, clock.waiting]).toEqual([true, 1, 0])
  })

  test('of the whole call counts over its rounds, and cancels the open request', async () => {
    const clock = manualClock()
    const exchange = createSequentialExchange(createInputRequired({ who: nameFormRequest }))
    const hanging: Exchange = (request, call) =>
      exchange.received.length === 1 ? (void exchange(request, call), pendingPromise as never) : exchange(request, call)
    const client = createClient(hanging, {
      ...hostInfo,
      runtime: clock,
      rounds: { totalTimeoutMs: 1000 },
      elicit: () => (clock.advance(600), accept),
    })
    const result = client.callTool('greet')
    const failure = result.catch((error: unknown) => error)
    await flushPromises()
    expect(exchange.received[1]?.call.signal.aborted).toBe(false)
    clock.advance(400)
    expect(await failure).toMatchObject({ code: 'timeout' })
    expect(exchange.received[1]?.call.signal.aborted).toBe(true)
  })

  test('ends when the caller cancels during a question, with the reason of the caller', async () => {
    const controller = new AbortController()
    const exchange = createSequentialExchange(createInputRequired({ who: nameFormRequest }))
    let signal: AbortSignal | undefined
    const client = createClient(exchange, {
      ...hostInfo,
      elicit: (_question, context) => ((signal = context.signal), pendingPromise as never),
    })
    const result = client.callTool('greet', {}, { signal: controller.signal })
    await flushPromises()
    const reason = new Error('the user closed the window')
    controller.abort(reason)
    await expect(result).rejects.toBe(reason)
    expect([signal?.aborted, signal?.reason, exchange.received.length]).toEqual([true, reason, 1])
  })
})
