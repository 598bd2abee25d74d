import type { RoundView } from '@x/client'
import { expect, test } from 'vitest'
import { instancesOf, type Run, withAnswer, withRound } from './run.ts'

const run: Run = { id: 1, tool: 'update_work_item', args: {}, startedAt: 0, rounds: [] }
const form = { type: 'object', properties: {} } as const
const asked: RoundView = {
  method: 'tools/call',
  target: 'update_work_item',
  round: 1,
  status: 'input_required',
  requests: {
    resolution: { method: 'elicitation/create', params: { message: 'How?', requestedSchema: form } },
    places: { method: 'roots/list' },
  },
  stateBytes: 312,
  durationMs: 84,
  isRestarted: false,
  meta: { 'dev.x/instance': { id: 2, pid: 4711 } },
}
const done: RoundView = { ...asked, round: 2, status: 'complete', requests: {}, stateBytes: 0, meta: undefined }

test('a round says who answered, and what was asked', () => {
  expect(withRound(run, asked).rounds).toEqual([
    {
      round: 1,
      status: 'input_required',
      instance: { id: 2, pid: 4711 },
      durationMs: 84,
      stateBytes: 312,
      isRestarted: false,
      asked: [
        { key: 'resolution', message: 'How?' },
        { key: 'places', message: 'asks for roots/list' },
      ],
    },
  ])
})

test('an answer stands beside its question alone', () => {
  const twice = withRound(withRound(run, asked), { ...asked, round: 2 })
  const answered = withAnswer(twice, { round: 2, key: 'resolution', answer: 'Fixed' })
  expect(answered.rounds.map((entry) => entry.asked.map(({ answer }) => answer))).toEqual([
    [undefined, undefined],
    ['Fixed', undefined],
  ])
})

test('instances count once, and those that do not say who they are do not', () => {
  const again = { ...asked, round: 3, meta: { 'dev.x/instance': { id: 5, pid: 1 } } }
  const rounds = [asked, done, again, asked].reduce((before, view) => withRound(before, view), run)
  expect(instancesOf(rounds)).toEqual([2, 5])
})

test.each([
  ['nothing', {}],
  ['a name that is no instance', { 'dev.x/instance': 'two' }],
  ['half an instance', { 'dev.x/instance': { id: '2' } }],
])('%s in a result names no instance', (_, meta) => {
  expect(withRound(run, { ...asked, meta }).rounds[0]?.instance).toBeUndefined()
})
