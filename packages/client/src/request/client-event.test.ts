import type { JsonObject, RpcResponse } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { manualClock } from '@tooling/vitest/manual-clock'
import { createClient } from '../create-client.ts'
import { createInputRequired, createSequentialExchange, nameFormRequest } from '../testing/asking.ts'
import { observer } from '../testing/observer.ts'
import { createTextResult, hostInfo } from '../testing/scripted-exchange.ts'
import type { ClientEvent } from './client-event.ts'

const canary = 'canary-of-the-client'

function recordEvents(): {
  readonly events: ClientEvent[]
  readonly extensions: readonly [ReturnType<typeof observer>]
} {
  const events: ClientEvent[] = []
  return { events, extensions: [observer((event) => void events.push(event))] }
}

describe('A client with an extension that observes', () => {
  test('emits the answers, the rounds and the end of a call, without arguments, answers, results and states', async () => {
    const clock = manualClock()
    const exchange = createSequentialExchange(
      createInputRequired({ who: nameFormRequest }, canary),
      (): JsonObject => (clock.advance(7), createTextResult(canary)),
    )
    const { events, extensions } = recordEvents()
    const elicit = (): { action: 'accept'; content: { name: string } } => {
      clock.advance(20)
      return { action: 'accept', content: { name: canary } }
    }
    const client = createClient(exchange, { ...hostInfo, elicit, runtime: clock, extensions })
    const { signal } = new AbortController()
    await client.callTool('greet', { secret: canary }, { signal })
    expect(events.map(({ type }) => type)).toEqual(['round', 'answer', 'round', 'call'])
    const call = { method: 'tools/call', target: 'greet', options: expect.objectContaining({ signal }) }
    expect(events[1]).toEqual({
      ...call,
      type: 'answer',
      key: 'who',
      kind: 'elicitation/create',
      action: 'accept',
      durationMs: 20,
    })
    expect(events[3]).toEqual({ ...call, type: 'call', roundCount: 2, durationMs: 27, error: undefined })
    expect(JSON.stringify(events)).not.toContain(canary)
  })

  test('emits an invalid answer, and the error with which the call ends', async () => {
    const { events, extensions } = recordEvents()
    const elicit = () => ({ action: 'accept', content: { name: 7 } }) as const
    const exchange = createSequentialExchange(createInputRequired({ who: nameFormRequest }, 's'))
    const error = await createClient(exchange, { ...hostInfo, elicit, extensions })
      .callTool('greet')
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'invalid_answer' })
    expect(events.slice(1)).toMatchObject([
      { type: 'answer', action: 'invalid' },
      { type: 'call', roundCount: 1, error },
    ])
  })

  test('emits each repetition of a request, with the reason and the pause', async () => {
    const clock = manualClock()
    const { events, extensions } = recordEvents()
    let requestCount = 0
    const exchange = async ({ id }: { readonly id: string | number }): Promise<RpcResponse> => {
      requestCount += 1
      if (requestCount > 1) return { jsonrpc: '2.0', id, result: createTextResult('done') }
      const data = { reason: 'overloaded', retryAfterMs: 30 }
      return { jsonrpc: '2.0', id, error: { code: -32603, message: 'later', data } }
    }
    const client = createClient(exchange, { ...hostInfo, runtime: clock, extensions })
    const pending = client.callTool('greet')
    await expect.poll(() => events.length).toBe(1)
    expect(events).toMatchObject([{ type: 'resend', target: 'greet', reason: 'overloaded', attempt: 1 }])
    clock.advance(10_000)
    await pending
    expect(events.map(({ type }) => type)).toEqual(['resend', 'round', 'call'])
  })

  test('emits hits and misses of its cache', async () => {
    const { events, extensions } = recordEvents()
    const list = { resultType: 'complete', tools: [], ttlMs: 60_000, cacheScope: 'private' } as const
    const exchange = createSequentialExchange(list)
    const client = createClient(exchange, { ...hostInfo, extensions })
    await client.listTools()
    await client.listTools()
    expect(events).toEqual([
      { type: 'cache', method: 'tools/list', isHit: false },
      { type: 'cache', method: 'tools/list', isHit: true },
    ])
  })

  test('completes a call whose observer throws, and logs the error', async () => {
    const broken = new Error('the observer broke')
    const logged: unknown[] = []
    const extensions = [
      observer(() => {
        throw broken
      }),
    ]
    const options = { ...hostInfo, extensions, log: ({ err }: { readonly err?: unknown }) => void logged.push(err) }
    await createClient(createSequentialExchange(), options).callTool('greet')
    expect(logged).toEqual([broken, broken])
  })
})
