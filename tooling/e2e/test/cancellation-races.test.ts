import { type Client, createClient } from '@x/client'
import { type Exchange, withNotify } from '@x/schema'
import { tool } from '@x/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { forms, keys, recording, stateWith, textOf } from './asking.ts'
import { createGate, type Gate } from '@tooling/vitest/gate'
import { overEveryTransport } from './over-every-transport.ts'

const reason = new Error('the user pressed stop')
const echo = tool('echo', {
  description: 'Gives back what it is given',
  input: z.object({ text: z.string() }),
  run: ({ text }) => text,
})

/** The one call that is watched; the others pass. */
const isWatched = (params: Record<string, unknown> | undefined): boolean => params?.['name'] === 'watched'

/** Tells if the connection still serves, and its responses belong to its calls. */
async function serveOn(client: Client): Promise<void> {
  const texts = ['one', 'two', 'three']
  const results = await Promise.all(texts.map((text) => client.callTool('echo', { text })))
  expect(results.map(textOf)).toEqual(texts)
}

overEveryTransport('a cancellation', (serve) => {
  test('that comes before the handler begins lets no handler begin that does not know of it [CAN-014]', async () => {
    const begun: boolean[] = []
    const watched = tool('watched', { description: 'Notes', run: (_, ctx) => String(begun.push(ctx.signal.aborted)) })
    const [arrived, passedOn] = [createGate(), createGate()]
    const around =
      (server: Exchange): Exchange =>
      async (request, call) => {
        if (!isWatched(request.params)) return server(request, call)
        const told = aborted(call.signal)
        arrived.open()
        await told
        return server(request, call).finally(() => passedOn.open())
      }
    await using served = await serve({ tools: [watched, echo] }, { around })
    const { client } = served.connect()
    const controller = new AbortController()
    const call = client.callTool('watched', {}, { signal: controller.signal })
    await arrived.opened
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    await passedOn.opened
    expect(begun.every((knew) => knew)).toBe(true)
    await serveOn(client)
  })

  test('that crosses the answer wins at the caller, and the answer goes nowhere [CAN-013 CAN-014]', async () => {
    const watched = tool('watched', { description: 'Answers', run: () => 'too late' })
    const [answered, handedOver] = [createGate(), createGate()]
    const around =
      (server: Exchange): Exchange =>
      async (request, call) => {
        if (!isWatched(request.params)) return server(request, call)
        const told = aborted(call.signal)
        const response = await server(request, call)
        answered.open()
        await told
        setImmediate(() => handedOver.open())
        return response
      }
    await using served = await serve({ tools: [watched, echo] }, { around })
    const { client } = served.connect()
    const controller = new AbortController()
    const call = client.callTool('watched', {}, { signal: controller.signal })
    await answered.opened
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    await handedOver.opened
    await serveOn(client)
  })

  test.each([
    ['the handler first', (end: Gate, controller: AbortController) => (end.open(), controller.abort(reason))],
    ['the caller first', (end: Gate, controller: AbortController) => (controller.abort(reason), end.open())],
  ])('in the turn in which the call ends, %s, ends it once, with the reason [CAN-014]', async (_, endBoth) => {
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
    await serveOn(client)
  })

  test('at any moment of a call leaves the reason or the right answer, and the connection usable [CAN-014]', async () => {
    await using served = await serve({ tools: [echo] })
    const { client } = served.connect()
    await serveOn(client)
    const outcomes: unknown[] = []
    for (let moment = 0; moment < 60; moment += 1) {
      const controller = new AbortController()
      const text = `at moment ${moment}`
      const call = client.callTool('echo', { text }, { signal: controller.signal }).then(textOf, (error) => error)
      // Over memory a call takes a few microtasks, over a socket a few turns of the loop.
      for (let turn = 0; turn < moment; turn += 1) await (moment % 2 === 0 ? undefined : nextTurn())
      controller.abort(reason)
      const outcome: unknown = await call
      expect(outcome).toBeOneOf([reason, text])
      outcomes.push(outcome)
    }
    expect(outcomes[0]).toBe(reason)
    await serveOn(client)
  })

  test('is the last event of the call for its caller, even if its handler still sends messages [CAN-012 CAN-013]', async () => {
    const [started, over] = [createGate(), createGate()]
    const watched = tool('watched', {
      description: 'Talks on',
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
    const heard: string[] = []
    const overhearing: Exchange = (request, call) =>
      exchange(
        request,
        withNotify(call, (message) => {
          heard.push(JSON.stringify(message.params?.['progress'] ?? message.params?.['data']))
          call.notify(message)
        }),
      )
    const client = createClient(overhearing, { name: 'e2e-client', version: '1.0.0' })
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
    await serveOn(client)
    expect(heard).toEqual(['1'])
  })

  test('of two hundred calls at once reaches every handler [CAN-004 CAN-012]', async () => {
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
    await serveOn(client)
  })

  test('while a user answers a question aborts the signal of the question, and the call is not sent again', async () => {
    const asks = tool('asks', {
      description: 'Asks',
      run: async (_, ctx) => String((await ctx.elicit('sure', { message: 'Sure?', schema: forms.sure })).sure),
    })
    await using served = await serve({ tools: [asks, echo], state: stateWith(keys.first) })
    const { exchange, requests } = recording(served.connect().exchange)
    const controller = new AbortController()
    const told = createGate<unknown>()
    const client = createClient(exchange, {
      name: 'e2e-client',
      version: '1.0.0',
      elicit: async (_, { signal }) => {
        controller.abort(reason)
        told.open(signal.aborted ? signal.reason : await aborted(signal))
        return { action: 'accept', content: { sure: true } }
      },
    })
    await expect(client.callTool('asks', {}, { signal: controller.signal })).rejects.toBe(reason)
    expect(await told.opened).toBe(reason)
    await serveOn(client)
    expect(requests.filter(({ params }) => params?.['name'] === 'asks')).toHaveLength(1)
  })
})

overEveryTransport('the reason of a cancellation', (serve) => {
  test.each([
    ['an error', reason],
    ['a text', 'stop'],
    ['an object', Object.freeze({ why: 'the window was closed' })],
    ['a number', 0],
    ['null', null],
    ['what the platform says by default', undefined],
  ])('that is %s is what the call rejects with, the same value [CAN-014]', async (_, given) => {
    const started = createGate()
    const told = createGate<unknown>()
    const waits = tool('waits', {
      description: 'Waits until it is cancelled',
      run: async (_input, ctx) => {
        started.open()
        told.open(await aborted(ctx.signal))
        return ''
      },
    })
    await using served = await serve({ tools: [waits, echo] })
    const { client } = served.connect()
    const controller = new AbortController()
    const call = client.callTool('waits', {}, { signal: controller.signal }).then(
      () => 'an answer',
      (error: unknown) => ({ error }),
    )
    await started.opened
    controller.abort(given)
    const outcome = await call
    expect(outcome).toHaveProperty('error')
    expect(typeof outcome === 'object' && Object.is(outcome.error, controller.signal.reason)).toBe(true)
    await told.opened
    await serveOn(client)
  })
})

/** Resolves with the reason when a signal aborts. */
function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    const tell = (): void => resolve(signal.reason)
    if (signal.aborted) tell()
    else signal.addEventListener('abort', tell, { once: true })
  })
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
