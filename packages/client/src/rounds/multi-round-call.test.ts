import type { JsonObject } from '@x/schema'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { ClientEvent } from '../request/client-event.ts'
import {
  createInputRequired,
  form,
  createSequentialExchange,
  nameFormRequest,
  createSamplingRequest,
} from '../testing/asking.ts'
import { createClient } from '../create-client.ts'
import { roundObserver } from '../testing/observer.ts'
import { manualClock } from '@tooling/vitest/manual-clock'
import { hostInfo, createTextResult, type ScriptedExchange } from '../testing/scripted-exchange.ts'

const accept = { action: 'accept', content: { name: 'Ada' } } as const
const elicit = (): typeof accept => accept
const answering = { ...hostInfo, elicit }

const refusedState = (): JsonObject => ({
  error: { code: -32602, message: 'Invalid or expired requestState', data: { reason: 'requestState' } },
})

describe('The event `round`', () => {
  test('describes each response, without answers and state', async () => {
    const clock = manualClock()
    const exchange = createSequentialExchange(
      (): JsonObject => (
        clock.advance(5), { ...createInputRequired({ who: nameFormRequest }, 'sécret'), _meta: { instance: 'a' } }
      ),
      () => (clock.advance(7), createTextResult('done')),
    )
    const events: ClientEvent[] = []
    const extensions = [roundObserver((event) => void events.push(event))]
    const client = createClient(exchange, { ...answering, runtime: clock, extensions })
    await client.callTool('greet', {})
    const call = {
      type: 'round',
      method: 'tools/call',
      target: 'greet',
      isRestarted: false,
      options: expect.anything(),
    }
    expect(events).toEqual([
      {
        ...call,
        round: 1,
        status: 'input_required',
        requests: { who: nameFormRequest },
        stateBytes: 7,
        durationMs: 5,
        meta: { instance: 'a' },
      },
      { ...call, round: 2, status: 'complete', requests: {}, stateBytes: 0, durationMs: 7, meta: undefined },
    ])
    expect(JSON.stringify(events)).not.toMatch(/cret|Ada/)
  })

  test('is emitted for a call that asks nothing, and for one that was restarted', async () => {
    const views: [number, string, boolean][] = []
    const extensions = [
      roundObserver(({ round, status, isRestarted }) => void views.push([round, status, isRestarted])),
    ]
    await createClient(createSequentialExchange(), { ...hostInfo, extensions }).callTool('greet')
    const exchange = createSequentialExchange(createInputRequired({ who: nameFormRequest }, 's'), refusedState)
    await createClient(exchange, { ...answering, extensions }).callTool('greet', {}, { rounds: { restart: true } })
    expect(views).toEqual([
      [1, 'complete', false],
      [1, 'input_required', false],
      [3, 'complete', true],
    ])
  })
})

test.each<[string, ScriptedExchange, string]>([
  [
    'a round too many',
    createSequentialExchange(
      createInputRequired({ who: nameFormRequest }, 'hunter2'),
      createInputRequired({ who: nameFormRequest }, 'hunter2'),
    ),
    'too_many_rounds',
  ],
  [
    'a damaged round',
    createSequentialExchange(createInputRequired({ who: { method: 'x' } }, 'hunter2')),
    'invalid_result',
  ],
  [
    'a kind that was not declared',
    createSequentialExchange(createInputRequired({ who: createSamplingRequest() }, 'hunter2')),
    'input_required',
  ],
  [
    'a wrong answer',
    createSequentialExchange(createInputRequired({ who: form({ name: { type: 'string', maxLength: 1 } }) }, 'hunter2')),
    'invalid_answer',
  ],
])('The error of %s repeats neither answers nor the state', async (_title, exchange, code) => {
  const client = createClient(exchange, {
    ...hostInfo,
    elicit: () => ({ action: 'accept', content: { name: 'hunter2' } }),
  })
  const error: unknown = await client
    .callTool('greet', {}, { rounds: { maxRounds: 1 } })
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code })
  expect(inspect(error)).not.toContain('hunter2')
})
