import type { JsonObject } from '@x/schema'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { RoundView } from '../request/round-options.ts'
import {
  createInputRequired,
  form,
  createSequentialExchange,
  nameFormRequest,
  createSamplingRequest,
} from '../testing/asking.ts'
import { createClient } from '../create-client.ts'
import { manualClock } from '@tooling/vitest/manual-clock'
import { hostInfo, createTextResult, type ScriptedExchange } from '../testing/scripted-exchange.ts'

const accept = { action: 'accept', content: { name: 'Ada' } } as const
const elicit = (): typeof accept => accept
const answering = { ...hostInfo, elicit }

const refusedState = (): JsonObject => ({
  error: { code: -32602, message: 'Invalid or expired requestState', data: { reason: 'requestState' } },
})

describe('The listener `onRound`', () => {
  test('receives each response, without answers and state', async () => {
    const clock = manualClock()
    const exchange = createSequentialExchange(
      (): JsonObject => (
        clock.advance(5), { ...createInputRequired({ who: nameFormRequest }, 'sécret'), _meta: { instance: 'a' } }
      ),
      () => (clock.advance(7), createTextResult('done')),
    )
    const views: RoundView[] = []
    const rounds = { onRound: (view: RoundView) => views.push(view) }
    const client = createClient(exchange, { ...answering, runtime: clock })
    await client.callTool('greet', {}, { rounds })
    expect(views).toEqual([
      {
        method: 'tools/call',
        target: 'greet',
        round: 1,
        status: 'input_required',
        requests: { who: nameFormRequest },
        stateBytes: 7,
        durationMs: 5,
        isRestarted: false,
        meta: { instance: 'a' },
      },
      {
        method: 'tools/call',
        target: 'greet',
        round: 2,
        status: 'complete',
        requests: {},
        stateBytes: 0,
        durationMs: 7,
        isRestarted: false,
        meta: undefined,
      },
    ])
    expect(JSON.stringify(views)).not.toMatch(/cret|Ada/)
  })

  test('sees a call that asks nothing, and one that was started afresh', async () => {
    const views: [number, string, boolean][] = []
    const onRound = ({ round, status, isRestarted }: RoundView): void => void views.push([round, status, isRestarted])
    await createClient(createSequentialExchange(), hostInfo).callTool('greet', {}, { rounds: { onRound } })
    const exchange = createSequentialExchange(createInputRequired({ who: nameFormRequest }, 's'), refusedState)
    await createClient(exchange, answering).callTool('greet', {}, { rounds: { onRound, restart: true } })
    expect(views).toEqual([
      [1, 'complete', false],
      [1, 'input_required', false],
      [3, 'complete', true],
    ])
  })

  test('fails the call by throwing', async () => {
    const broken = new Error('the timeline broke')
    const onRound = (): void => {
      throw broken
    }
    await expect(
      createClient(createSequentialExchange(), hostInfo).callTool('greet', {}, { rounds: { onRound } }),
    ).rejects.toBe(broken)
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
