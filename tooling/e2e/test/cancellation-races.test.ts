import { type Client, createClient } from '@x/client'
import { type Exchange, withNotify } from '@x/exchange'
import { tool } from '@x/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { forms, keys, recordRequests, stateWith, textOf } from './asking.ts'
import { createGate, type Gate } from '@tooling/vitest/gate'
import { overEveryTransport } from './over-every-transport.ts'

const reason = new Error('the user pressed stop')
const echo = tool('echo', {
  description: 'Returns its input',
  input: z.object({ text: z.string() }),
  run: ({ text }) => text,
})

/** Selects the calls of one tool. Other calls pass unchanged. */
const isWatched = (params: Record<string, unknown> | undefined): boolean => params?.['name'] === 'watched'

/** Asserts that the connection still works and that each response belongs to its call. */
async function expectUsable(client: Client): Promise<void> {
  const texts = ['one', 'two', 'three']
  const results = await Promise.all(texts.map((text) => client.callTool('echo', { text })))
  expect(results.map(textOf)).toEqual(texts)
}

overEveryTransport('a cancellation', (serve) => {
  test('that arrives before the handler starts lets it start only with an aborted signal [CAN-014]', async () => {
    const startedAborted: boolean[] = []
    const watched = tool('watched', {
      description: 'Records whether its signal is aborted',
      run: (_, ctx) => String(startedAborted.push(ctx.signal.aborted)),
    })
    const [arrived, handled] = [createGate(), createGate()]
    const middleware =
      (server: Exchange): Exchange =>
      async (request, call) => {
        if (!isWatched(request.params)) return server(request, call)
        const cancelled = aborted(call.signal)
        arrived.open()
        await cancelled
        return server(request, call).finally(() => handled.open())
      }
    await using served = await serve({ tools: [watched, echo] }, { middleware })
    const { client } = served.connect()
    const controller = new AbortController()
    const call = client.callTool('watched', {}, { signal: controller.signal })
    await arrived.opened
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    await handled.opened
    expect(startedAborted.every((isAborted) => isAborted)).toBe(true)
    await expectUsable(client)
  })

  test('that crosses the response rejects the call, and the response is dropped [CAN-013 CAN-014]', async () => {
    const watched = tool('watched', { description: 'Answers', run: () => 'too late' })
    const [answered, delivered] = [createGate(), createGate()]
    const middleware =
      (server: Exchange): Exchange =>
      async (request, call) => {
        if (!isWatched(request.params)) return server(request, call)
        const cancelled = aborted(call.signal)
        const response = await server(request, call)
        answered.open()
        await cancelled
        setImmediate(() => delivered.open())
        return response
      }
    await using served = await serve({ tools: [watched, echo] }, { middleware })
    const { client } = served.connect()
    const controller = new AbortController()
    const call = client.callTool('watched', {}, { signal: controller.signal })
    await answered.opened
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    await delivered.opened
    await expectUsable(client)
  })

  test.each([
    ['the handler first', (end: Gate, controller: AbortController) => (end.open(), controller.abort(reason))],
    ['the caller first', (end: Gate, controller: AbortController) => (controller.abort(reason), end.open())],
  ])('in the same turn as the end of the call, %s, ends it once, with the reason [CAN-014]', async (_, endBoth) => {
    const calls: { readonly started: Gate; readonly end: Gate }[] = []
    const watched = tool('watched', {
      description: 'Waits for its end',
      input: z.object({ round: z.int() }),
      run: async ({ round }) => {
        calls[round]?.started.open()
        await calls[round]?.end.opened
        return `round ${round}`
      },
    })
    await using served = await serve({ tools: [watched, echo] })
    const { client } = served.connect()
    for (let round = 0; round < 30; round += 1) {
      const gates = { started: createGate(), end: createGate() }
      calls.push(gates)
      const controller = new AbortController()
      const call = client.callTool('watched', { round }, { signal: controller.signal })
      await gates.started.opened
      endBoth(gates.end, controller)
      await expect(call).rejects.toBe(reason)
    }
    await expectUsable(client)
  })

  test('at any moment of a call gives the reason or the right answer, and the connection stays usable [CAN-014]', async () => {
    await using served = await serve({ tools: [echo] })
    const { client } = served.connect()
    await expectUsable(client)
    const outcomes: unknown[] = []
    for (let moment = 0; moment < 60; moment += 1) {
      const controller = new AbortController()
      const text = `at moment ${moment}`
      const call = client.callTool('echo', { text }, { signal: controller.signal }).then(textOf, (error) => error)
      // In memory a call takes a few microtasks, over a socket a few turns of the event loop.
      for (let turn = 0; turn < moment; turn += 1) await (moment % 2 === 0 ? undefined : afterImmediate())
      controller.abort(reason)
      const outcome: unknown = await call
      expect(outcome).toBeOneOf([reason, text])
      outcomes.push(outcome)
    }
    expect(outcomes[0]).toBe(reason)
    await expectUsable(client)
  })

  test('is the last event of the call for its caller, even if its handler sends further messages [CAN-012 CAN-013]', async () => {
    const [started, over] = [createGate(), createGate()]
    const watched = tool('watched', {
      description: 'Reports after its cancellation',
      run: async (_, ctx) => {
        ctx.progress(1)
        started.open()
        await aborted(ctx.signal)
        ctx.progress(2)
        ctx.log('error', 'still here')
        over.open()
        return 'still here'
      },
    })
    await using served = await serve({ tools: [watched, echo] })
    const { exchange } = served.connect()
    const received: string[] = []
    const observed: Exchange = (request, call) =>
      exchange(
        request,
        withNotify(call, (message) => {
          received.push(JSON.stringify(message.params?.['progress'] ?? message.params?.['data']))
          call.notify(message)
        }),
      )
    const client = createClient(observed, { name: 'e2e-client', version: '1.0.0' })
    const controller = new AbortController()
    const first = createGate()
    const call = client.callTool(
      'watched',
      {},
      { signal: controller.signal, onProgress: () => first.open(), logLevel: 'debug' },
    )
    await started.opened
    await first.opened
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    await over.opened
    await expectUsable(client)
    expect(received).toEqual(['1'])
  })

  test('of two hundred concurrent calls reaches every handler [CAN-004 CAN-012]', async () => {
    const count = 200
    const [all, none] = [createGate(), createGate()]
    let running = 0
    const watched = tool('watched', {
      description: 'Waits until it is cancelled',
      run: async (_, ctx) => {
        running += 1
        if (running === count) all.open()
        await aborted(ctx.signal)
        running -= 1
        if (running === 0) none.open()
        return ''
      },
    })
    await using served = await serve({ tools: [watched, echo] })
    const { client } = served.connect()
    const controller = new AbortController()
    const calls = Array.from({ length: count }, () =>
      client.callTool('watched', {}, { signal: controller.signal }).catch((error: unknown) => error),
    )
    await all.opened
    controller.abort(reason)
    expect(new Set(await Promise.all(calls))).toEqual(new Set([reason]))
    await none.opened
    await expectUsable(client)
  })

  test('while a user answers a question aborts the signal of the question, and the call is not sent again', async () => {
    const asks = tool('asks', {
      description: 'Asks',
      run: async (_, ctx) => String((await ctx.elicit('sure', { message: 'Sure?', schema: forms.sure })).sure),
    })
    await using served = await serve({ tools: [asks, echo], state: stateWith(keys.first) })
    const { exchange, requests } = recordRequests(served.connect().exchange)
    const controller = new AbortController()
    const cancelled = createGate<unknown>()
    const client = createClient(exchange, {
      name: 'e2e-client',
      version: '1.0.0',
      elicit: async (_, { signal }) => {
        controller.abort(reason)
        cancelled.open(signal.aborted ? signal.reason : await aborted(signal))
        return { action: 'accept', content: { sure: true } }
      },
    })
    await expect(client.callTool('asks', {}, { signal: controller.signal })).rejects.toBe(reason)
    expect(await cancelled.opened).toBe(reason)
    await expectUsable(client)
    expect(requests.filter(({ params }) => params?.['name'] === 'asks')).toHaveLength(1)
  })
})

overEveryTransport('the reason of a cancellation', (serve) => {
  test('is the value that the call rejects with, whatever it is [CAN-014]', async () => {
    let started = createGate()
    let cancelled = createGate<unknown>()
    const waits = tool('waits', {
      description: 'Waits until it is cancelled',
      run: async (_input, ctx) => {
        started.open()
        cancelled.open(await aborted(ctx.signal))
        return ''
      },
    })
    await using served = await serve({ tools: [waits, echo] })
    const { client } = served.connect()
    // The last is the default of the platform.
    for (const given of [reason, 'stop', Object.freeze({ why: 'the window was closed' }), 0, null, undefined]) {
      ;[started, cancelled] = [createGate(), createGate<unknown>()]
      const controller = new AbortController()
      const call = client.callTool('waits', {}, { signal: controller.signal }).then(
        () => 'an answer',
        (error: unknown) => ({ error }),
      )
      await started.opened
      controller.abort(given)
      const outcome = await call
      expect(typeof outcome === 'object' && Object.is(outcome.error, controller.signal.reason), String(given)).toBe(
        true,
      )
      await cancelled.opened
      await expectUsable(client)
    }
  })
})

/** Resolves with the reason when a signal aborts. */
function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    const onAbort = (): void => resolve(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}

function afterImmediate(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
