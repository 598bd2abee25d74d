import type { JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { createInputRequired, createSequentialExchange, nameFormRequest } from '../testing/asking.ts'
import { createClient } from '../create-client.ts'
import { hostInfo, createMinimalTool, createTextResult, createToolsPage } from '../testing/scripted-exchange.ts'

const accept = { action: 'accept', content: { name: 'Ada' } } as const
const elicit = (): typeof accept => accept
const answering = { ...hostInfo, elicit }

const refusedState = (): JsonObject => ({
  error: { code: -32602, message: 'Invalid or expired requestState', data: { reason: 'requestState' } },
})

describe('A state that the server no longer takes', () => {
  const readOnly = createMinimalTool('look', { annotations: { readOnlyHint: true } })
  const idempotent = createMinimalTool('put', { annotations: { idempotentHint: true } })
  const tools = createToolsPage([readOnly, idempotent, createMinimalTool('pay')])

  test.each([
    ['look', {}, true],
    ['put', {}, true],
    ['pay', {}, false],
    ['pay', { restart: true }, true],
    ['look', { restart: false }, false],
    ['unlisted', {}, false],
  ])('starts the tool %s with %j afresh: %j', async (name, rounds, isAgain) => {
    const exchange = createSequentialExchange(tools, createInputRequired({ who: nameFormRequest }, 's1'), refusedState)
    const client = createClient(exchange, answering)
    await client.listTools()
    const call = client.callTool(name, {}, { rounds })
    if (isAgain) expect(await call).toEqual(createTextResult('done'))
    else await expect(call).rejects.toMatchObject({ code: 'rpc', rpc: { code: -32602 } })
    const sent = exchange.received.slice(1).map(({ params }) => params)
    expect(sent[2]).toEqual(isAgain ? { name, arguments: {} } : undefined)
  })

  test('starts a tool afresh whose promise the client has yet to read', async () => {
    const exchange = createSequentialExchange(createInputRequired({ who: nameFormRequest }, 's1'), refusedState, tools)
    expect(await createClient(exchange, answering).callTool('put')).toEqual(createTextResult('done'))
    expect(exchange.received).toHaveLength(4)
    expect(exchange.received[3]?.params).toEqual({ name: 'put', arguments: {} })
  })

  test('starts prompts and resources afresh, which change nothing', async () => {
    const prompt = createSequentialExchange(createInputRequired({ who: nameFormRequest }, 's'), refusedState, {
      messages: [],
    })
    await createClient(prompt, answering).getPrompt('p')
    const resource = createSequentialExchange(createInputRequired({ who: nameFormRequest }, 's'), refusedState, {
      contents: [],
    })
    await createClient(resource, answering).readResource('a:b')
    expect([prompt.received[2]?.params, resource.received[2]?.params]).toEqual([{ name: 'p' }, { uri: 'a:b' }])
  })

  test('starts the call afresh once, and asks again', async () => {
    let asked = 0
    const exchange = createSequentialExchange(
      createInputRequired({ a: nameFormRequest }, 's1'),
      refusedState,
      createInputRequired({ a: nameFormRequest }, 's2'),
      refusedState,
    )
    const rounds = { restart: true }
    const client = createClient(exchange, { ...hostInfo, elicit: () => ((asked += 1), accept) })
    await expect(client.callTool('pay', {}, { rounds })).rejects.toMatchObject({ code: 'rpc' })
    expect([asked, exchange.received.length]).toEqual([2, 4])
    expect(exchange.received[3]?.params).toMatchObject({ requestState: 's2' })
  })

  test.each<[string, JsonObject, JsonObject, number]>([
    [
      'another server words it its own way',
      createInputRequired({ a: nameFormRequest }, 's'),
      { code: -32602, message: 'requestState expired' },
      3,
    ],
    [
      'the error means something else',
      createInputRequired({ a: nameFormRequest }, 's'),
      { code: -32602, message: 'no such item' },
      2,
    ],
    [
      'the code is another',
      createInputRequired({ a: nameFormRequest }, 's'),
      { code: -32603, message: 'requestState', data: { reason: 'requestState' } },
      2,
    ],
    [
      'no state was sent',
      createInputRequired({ a: nameFormRequest }),
      { code: -32602, message: 'requestState', data: { reason: 'requestState' } },
      2,
    ],
  ])('is known when %s', async (_title, first, error, requests) => {
    const exchange = createSequentialExchange(first, { error })
    await createClient(exchange, answering)
      .callTool('pay', {}, { rounds: { restart: true } })
      .catch(() => {})
    expect(exchange.received).toHaveLength(requests)
  })
})
