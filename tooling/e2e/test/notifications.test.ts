import { metaKeys } from '@x/schema'
import { tool } from '@x/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createGate } from '@tooling/vitest/gate'
import { overEveryTransport } from './over-every-transport.ts'
import { send } from './raw-request.ts'

const counts = tool('counts', {
  description: 'Reports progress up to a number',
  input: z.object({ to: z.number() }),
  run: ({ to }, ctx) => {
    for (let step = 1; step <= to; step++) ctx.progress(step, to, `step ${step}`)
    return 'counted'
  },
})
const callCounts = (to: number) => ({ method: 'tools/call', params: { name: 'counts', arguments: { to } } })

overEveryTransport('progress', (serve) => {
  test('arrives in order, before the result, with the token of the request and without an id [BAS-026 PRG-003 PRG-004 PRG-005]', async () => {
    await using served = await serve({ tools: [counts] })
    const meta = { [metaKeys.progressToken]: 'token-1' }
    const { response, notifications } = await send(served.connect().exchange, { ...callCounts(3), meta })
    expect(response).toHaveProperty('result')
    expect(notifications.map(({ method }) => method)).toEqual(Array(3).fill('notifications/progress'))
    expect(notifications.some((message) => 'id' in message)).toBe(false)
    expect(notifications.map(({ params }) => params)).toMatchObject(
      [1, 2, 3].map((progress) => ({ progressToken: 'token-1', progress, total: 3, message: `step ${progress}` })),
    )
  })

  test('is not sent for a request without a token [PRG-005]', async () => {
    await using served = await serve({ tools: [counts] })
    expect((await send(served.connect().exchange, callCounts(3))).notifications).toEqual([])
  })

  test('never decreases, even if the handler reports smaller values [PRG-003]', async () => {
    const decreasing = tool('decreasing', {
      description: 'Reports decreasing progress',
      run: (_, ctx) => {
        for (const progress of [1, 3, 2, 3, 4]) ctx.progress(progress)
        return 'done'
      },
    })
    await using served = await serve({ tools: [decreasing] })
    const seen: number[] = []
    await served.connect().client.callTool('decreasing', {}, { onProgress: ({ progress }) => seen.push(progress) })
    expect(seen).toEqual([1, 3, 4])
  })

  test('stops with the result, even if the handler continues [PRG-006 PRG-009]', async () => {
    const answered = createGate()
    const reported = createGate()
    const continues = tool('continues', {
      description: 'Reports progress after its end',
      run: (_, ctx) => {
        ctx.progress(1)
        void answered.opened.then(() => {
          ctx.progress(2)
          reported.open()
        })
        return 'done'
      },
    })
    await using served = await serve({ tools: [continues, counts] })
    const { exchange } = served.connect()
    const params = { name: 'continues', arguments: {} }
    const { notifications } = await send(exchange, { method: 'tools/call', params, meta: { progressToken: 1 } })
    answered.open()
    await reported.opened
    // A later response over the same connection would arrive after a late notification.
    await send(exchange, callCounts(0))
    expect(notifications.map((message) => message.params?.['progress'])).toEqual([1])
  })

  test('has a separate token for each of several concurrent calls [PRG-001 PRG-002]', async () => {
    const gate = createGate()
    const token = tool('token', {
      description: 'Returns the progress token',
      run: async (_, ctx) => {
        await gate.opened
        return JSON.stringify(ctx.meta.progressToken)
      },
    })
    await using served = await serve({ tools: [token] })
    const { client } = served.connect()
    const calls = Array.from({ length: 5 }, () => client.callTool('token', {}, { onProgress: () => {} }))
    gate.open()
    const tokens = (await Promise.all(calls)).map(({ content }) => (content[0]?.type === 'text' ? content[0].text : ''))
    expect(tokens).toSatisfy((all: string[]) => all.every((text) => /^("[^"]+"|-?\d+)$/.test(text)))
    expect(new Set(tokens).size).toBe(5)
  })

  test('of concurrent calls goes to its own call [PRG-007 SHT-017]', async () => {
    await using served = await serve({ tools: [counts] })
    const { client } = served.connect()
    const run = async (to: number): Promise<(number | undefined)[]> => {
      const totals: (number | undefined)[] = []
      await client.callTool('counts', { to }, { onProgress: ({ total }) => totals.push(total) })
      return totals
    }
    const all = await Promise.all([1, 2, 3, 4, 5].map(run))
    expect(all).toEqual([1, 2, 3, 4, 5].map((to) => Array(to).fill(to)))
  })
})

overEveryTransport('logging', (serve) => {
  const logs = tool('logs', {
    description: 'Logs at every level',
    run: (_, ctx) => {
      ctx.log('debug', 'a detail')
      ctx.log('info', { step: 1 }, 'worker')
      ctx.log('error', 'a fault')
      return 'talked'
    },
  })

  test('is sent to a request with a log level, from that level up', async () => {
    await using served = await serve({ tools: [logs] })
    const seen: unknown[] = []
    const onLog = (message: object): void => void seen.push(message)
    await served.connect().client.callTool('logs', {}, { logLevel: 'info', onLog })
    expect(seen).toMatchObject([
      { level: 'info', data: { step: 1 }, logger: 'worker' },
      { level: 'error', data: 'a fault' },
    ])
  })

  test('is not sent to a request without a log level', async () => {
    await using served = await serve({ tools: [logs] })
    const { notifications } = await send(served.connect().exchange, {
      method: 'tools/call',
      params: { name: 'logs', arguments: {} },
    })
    expect(notifications).toEqual([])
  })
})
