import { platformRuntime } from '@x/core'
import { describe, expect, test } from 'vitest'
import {
  createAcceptAnswer,
  createElicitRequest,
  connectScriptedServer as connect,
  sendToolResult,
} from '../../testing/scripted-calls.ts'
import { type ReceivedRequest, openStream, createReply, createErrorReply } from '../../testing/scripted-server.ts'

describe('a stream that broke off', () => {
  test('is taken up by GET behind the last event, after the pause that was named [LEG-027 LEG-029 LEG-040]', async () => {
    const resumed = openStream()
    const at: number[] = []
    const handle = ({ method, headers }: ReceivedRequest): Response | undefined => {
      if (method !== 'GET' || !headers.has('last-event-id')) return undefined
      at.push(performance.now())
      return resumed.response
    }
    const { server, client, nextCall } = connect({ elicit: createAcceptAnswer }, {}, { handle })
    const result = client.callTool('greet')
    const { stream, id } = await nextCall()
    stream.send(undefined, { id: 'event-7', retry: 60 })
    const closed = performance.now()
    stream.close()
    await expect.poll(() => at.length).toBe(1)
    expect((at[0] ?? 0) - closed).toBeGreaterThan(55)
    expect(server.arrived.at(-1)?.headers.get('last-event-id')).toBe('event-7')
    // Stores of the official SDK keep the event without data, which begins a stream, as an empty object.
    resumed.send({}, { id: 'event-1' })
    resumed.send(createElicitRequest('q'), { id: 'event-8' })
    expect(await server.nextAnswer()).toMatchObject({ id: 'q', result: { action: 'accept' } })
    sendToolResult({ stream: resumed, id }, 'resumed')
    expect(await result).toMatchObject({ content: [{ text: 'resumed' }] })
  })

  test('without an event id, or too often in a row, fails the call', async () => {
    const handle = ({ method }: ReceivedRequest): Response | undefined =>
      method === 'GET' ? new Response(null, { status: 503 }) : undefined
    const { server, client, nextCall } = connect({}, {}, { handle })
    const first = client.callTool('greet')
    ;(await nextCall()).stream.close()
    await expect(first).rejects.toThrow('the stream ended without the response')
    const second = client.callTool('greet')
    const { stream } = await nextCall()
    stream.send(undefined, { id: '1', retry: 1 })
    stream.close()
    await expect(second).rejects.toThrow('503')
    expect(server.methods().filter((method) => method === 'GET')).toHaveLength(5)
  })

  test.each([0, 2 ** 31])(
    'is not taken up without a pause, nor after days, when retry is %s [LEX-006]',
    async (retry) => {
      const waits: number[] = []
      const runtime = {
        ...platformRuntime,
        setTimeout: (run: () => void, ms: number) => {
          waits.push(ms)
          return platformRuntime.setTimeout(run, Math.min(ms, 1))
        },
      }
      const handle = ({ method, headers }: ReceivedRequest): Response | undefined =>
        method === 'GET' && headers.has('last-event-id') ? new Response(null, { status: 400 }) : undefined
      const { client, nextCall } = connect({}, { runtime }, { handle })
      const result = client.callTool('greet')
      const { stream } = await nextCall()
      stream.send(undefined, { id: '1', retry })
      stream.close()
      await expect(result).rejects.toThrow('400')
      const pauses = waits.filter((ms) => ms >= 100 && ms <= 60_000)
      expect(pauses).toContain(retry === 0 ? 100 : 60_000)
    },
  )

  test('that is taken up again and again without an answer ends the call [LEX-006]', async () => {
    let connectionCount = 0
    const handle = ({ method, headers }: ReceivedRequest): Response | undefined => {
      if (method !== 'GET' || !headers.has('last-event-id')) return undefined
      const stream = openStream()
      connectionCount += 1
      stream.send(undefined, { id: String(connectionCount), retry: 0 })
      stream.close()
      return stream.response
    }
    const runtime = {
      ...platformRuntime,
      setTimeout: (run: () => void, ms: number) =>
        ms === 100 ? setImmediate(run) : platformRuntime.setTimeout(run, ms),
    }
    const { client, nextCall } = connect({}, { runtime }, { handle })
    const result = client.callTool('greet')
    const { stream } = await nextCall()
    stream.send(undefined, { id: '0', retry: 0 })
    stream.close()
    await expect(result).rejects.toThrow('the stream ended without the response')
    expect(connectionCount).toBe(3599)
  })

  test('that does not end is closed at its bound', async () => {
    const { client, nextCall } = connect({}, { http: { maxStreamBytes: 10_000 } })
    const result = client.callTool('greet')
    const { stream } = await nextCall()
    for (let index = 0; index < 40; index += 1)
      stream.send({ jsonrpc: '2.0', method: 'notifications/x', params: { x: 'x'.repeat(500) } })
    await expect(result).rejects.toThrow('10000 bytes')
  })
})

describe('a URL that a call requires', () => {
  const required = (one: ReceivedRequest): Response =>
    createErrorReply(one, {
      code: -32042,
      message: 'visit',
      data: { elicitations: [{ mode: 'url', elicitationId: 'e-1', url: 'https://x.test/visit', message: 'Visit' }] },
    })

  test.each(['accept', 'decline', 'cancel'] as const)(
    'is opened, and the request sent again after %s [LEG-071 LEG-072]',
    async (action) => {
      let sent = 0
      const handle = (one: ReceivedRequest): Response | undefined => {
        if (one.message['method'] !== 'tools/call') return undefined
        sent += 1
        return sent === 1 ? required(one) : createReply(one, { content: [] })
      }
      const opened: string[] = []
      const openUrl = ({ url }: { readonly url: string }): { action: typeof action } => {
        opened.push(url)
        return { action }
      }
      const { client } = connect({ openUrl }, {}, { handle })
      const result = client.callTool('greet')
      if (action === 'accept') expect(await result).toMatchObject({ content: [] })
      else await expect(result).rejects.toMatchObject({ rpc: { code: -32042 } })
      expect([opened, sent]).toEqual([['https://x.test/visit'], action === 'accept' ? 2 : 1])
    },
  )

  test('without end is bounded by the rounds of the client', async () => {
    const handle = (one: ReceivedRequest): Response | undefined =>
      one.message['method'] === 'tools/call' ? required(one) : undefined
    const { client } = connect({ openUrl: () => ({ action: 'accept' }) }, {}, { handle })
    await expect(client.callTool('greet', {}, { rounds: { maxRounds: 1 } })).rejects.toMatchObject({
      code: 'too_many_rounds',
    })
  })

  test('is an error for a client that opens none', async () => {
    const handle = (one: ReceivedRequest): Response | undefined =>
      one.message['method'] === 'tools/call' ? required(one) : undefined
    const { client } = connect({ elicit: createAcceptAnswer }, {}, { handle })
    await expect(client.callTool('greet')).rejects.toMatchObject({ rpc: { code: -32042 } })
  })
})
