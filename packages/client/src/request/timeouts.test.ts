import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import type { CallOptions } from './call-options.ts'
import type { Client } from '../client.ts'
import { createClient } from '../create-client.ts'
import { createInputRequired, nameFormRequest, flushPromises } from '../testing/asking.ts'
import { hostInfo, pendingPromise, createScriptedExchange } from '../testing/scripted-exchange.ts'

const calls: readonly [string, (client: Client, options: CallOptions) => Promise<unknown>][] = [
  ['discover', (client, options) => client.discover(options)],
  [
    'complete',
    (client, options) => client.complete({ type: 'ref/prompt', name: 'p' }, { name: 'a', value: '' }, options),
  ],
  ['listTools', (client, options) => client.listTools(options)],
  ['listPrompts', (client, options) => client.listPrompts(options)],
  ['listResources', (client, options) => client.listResources(options)],
  ['listResourceTemplates', (client, options) => client.listResourceTemplates(options)],
  ['eachTool', (client, options) => client.eachTool(options)[Symbol.asyncIterator]().next()],
  ['callTool', (client, options) => client.callTool('t', {}, options)],
  ['getPrompt', (client, options) => client.getPrompt('p', {}, options)],
  ['readResource', (client, options) => client.readResource('a:b', options)],
  ['manual.callTool', (client, options) => client.manualRounds.callTool('t', {}, options)],
  ['manual.getPrompt', (client, options) => client.manualRounds.getPrompt('p', {}, options)],
  ['manual.readResource', (client, options) => client.manualRounds.readResource('a:b', options)],
]

describe.each(calls)('The time of %s', (_name, run) => {
  test.each<[string, CallOptions, number]>([
    ['the client', {}, 100],
    ['the call', { timeoutMs: 30 }, 30],
  ])(
    'is what %s says, and at its end the server is notified to stop [CAN-006 CAN-007 CAN-008]',
    async (_title, options, ms) => {
      const clock = manualClock()
      const exchange = createScriptedExchange(() => pendingPromise)
      const failure = run(createClient(exchange, { ...hostInfo, runtime: clock, timeoutMs: 100 }), options).catch(
        (error: unknown) => error,
      )
      await flushPromises()
      const signal = exchange.received[0]?.call.signal
      clock.advance(ms - 1)
      expect(signal?.aborted).toBe(false)
      clock.advance(1)
      expect(signal?.aborted).toBe(true)
      expect(await failure).toMatchObject({ code: 'timeout' })
      expect(clock.waiting).toBe(0)
    },
  )

  test('rejects with the reason of its signal and cancels the request', async () => {
    const exchange = createScriptedExchange(() => pendingPromise)
    const controller = new AbortController()
    const failure = run(createClient(exchange, hostInfo), { signal: controller.signal }).catch(
      (error: unknown) => error,
    )
    await flushPromises()
    controller.abort('enough')
    expect([await failure, exchange.received[0]?.call.signal.reason]).toEqual(['enough', 'enough'])
  })
})

test('each round of a call has the time of a call, also the last [CAN-006 CAN-009]', async () => {
  const clock = manualClock()
  let round = 0
  const exchange = createScriptedExchange(() => {
    round += 1
    return round === 1 ? createInputRequired({ name: nameFormRequest }) : pendingPromise
  })
  const client = createClient(exchange, {
    ...hostInfo,
    runtime: clock,
    timeoutMs: 100,
    elicit: async () => {
      clock.advance(99)
      return { action: 'accept', content: { name: 'Ada' } }
    },
  })
  const failure = client.callTool('t').catch((error: unknown) => error)
  await flushPromises()
  expect(exchange.received).toHaveLength(2)
  clock.advance(100)
  expect(await failure).toMatchObject({ code: 'timeout' })
  expect(exchange.received[1]?.call.signal.aborted).toBe(true)
})
