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
