import { platformRuntime } from '@x/core'
import type { JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { manualClock } from '@tooling/vitest/manual-clock'
import { createClient } from '../create-client.ts'
import { createInputRequired, createSequentialExchange, flushPromises, nameFormRequest } from '../testing/asking.ts'
import { createScriptedExchange, createTextResult, hostInfo } from '../testing/scripted-exchange.ts'

const answering = { ...hostInfo, elicit: () => ({ action: 'accept', content: { name: 'Ada' } }) as const }

describe('Results with a state and no question', () => {
  const handOffs = (count: number): JsonObject[] =>
    Array.from({ length: count }, (_, index) => createInputRequired(undefined, `s${index}`))
  const runtime = { ...platformRuntime, setTimeout: (run: () => void) => platformRuntime.setTimeout(run, 0) }
  const quick = { ...answering, runtime }

  test('do not count as rounds: a call may be handed off a hundred times and ask all of its questions [UNA-005 UNA-006]', async () => {
    const questions = Array.from({ length: 10 }, () => createInputRequired({ who: nameFormRequest }, 'q'))
    const exchange = createSequentialExchange(...handOffs(40), ...questions, ...handOffs(60))
    expect(await createClient(exchange, quick).callTool('greet')).toEqual(createTextResult('done'))
    expect(exchange.received).toHaveLength(111)
  })

  test('are a hundred at most [UNA-006]', async () => {
    const exchange = createScriptedExchange(() => createInputRequired(undefined, 's'))
    const failure = createClient(exchange, quick).callTool('greet')
    await expect(failure).rejects.toMatchObject({
      code: 'too_many_rounds',
      message: 'tools/call "greet": the server handed the call off more than 100 times',
    })
    expect(exchange.received).toHaveLength(101)
  })

  test('end with the signal of the call', async () => {
    const clock = manualClock()
    const exchange = createScriptedExchange(() => createInputRequired(undefined, 's'))
    const controller = new AbortController()
    const outcome = createClient(exchange, { ...hostInfo, runtime: clock })
      .callTool('greet', {}, { signal: controller.signal })
      .catch((error: unknown) => error)
    for (let step = 0; step < 40; step += 1) {
      await flushPromises()
      clock.advance(25)
    }
    controller.abort('enough')
    expect(await outcome).toBe('enough')
    expect(clock.waiting).toBe(0)
  })

  test('have a limit of their own in manual rounds, which a stored call remembers', async () => {
    const exchange = createScriptedExchange(() => createInputRequired(undefined, 's'))
    const client = createClient(exchange, hostInfo)
    const rounds = { maxRounds: 1 }
    let round = await client.manualRounds.callTool('greet', {}, { rounds })
    for (let count = 1; count < 100; count += 1) {
      if (round.status !== 'input_required') throw new Error('the call has ended')
      const stored = JSON.parse(JSON.stringify(round.pendingCall)) as typeof round.pendingCall
      round = await client.manualRounds.resume(stored, {}, { rounds })
    }
    expect(round).toMatchObject({ pendingCall: { round: 100, handOffs: 100 } })
    if (round.status !== 'input_required') throw new Error('the call has ended')
    await expect(round.resume({}, { rounds })).rejects.toMatchObject({ code: 'too_many_rounds' })
  })
})
