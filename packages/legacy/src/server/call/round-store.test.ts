import { randomBytes } from 'node:crypto'
import { createLedger, platformRuntime } from '@x/core'
import { memoryBus } from '@x/server'
import { memoryStore, sealedState } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import type { LegacyClient } from '../../translate/request.ts'
import { createHttpAdapter } from '../http/http-adapter.ts'
import { createDeps } from '../session/deps.ts'
import { type LegacyOptions, resolveLegacySettings } from '../session/options.ts'
import { type CallDeps, createCallDeps } from './call-deps.ts'
import { createMemoryRounds, type RoundStore } from './round-store.ts'
import { decodeRound, encodeRound, type WaitingRound } from './waiting-round.ts'

const client: LegacyClient = {
  revision: '2025-11-25',
  info: undefined,
  capabilities: { experimental: { requestState: {} } },
}
const streamId = 'abcdefghijklmnopqrstuv'
const round: WaitingRound = {
  id: 'round-1',
  owner: 'session-1',
  request: { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'pair' } },
  requestState: 'sealed',
  questions: [
    { key: 'first', id: `${streamId}.1`, method: 'elicitation/create', params: { message: 'First?' } },
    { key: 'second', id: `${streamId}.2`, method: 'roots/list', params: undefined },
  ],
  repeatedKeys: ['page'],
  streamId,
  eventCount: 3,
  roundCount: 1,
  pages: [{ url: 'https://pages.example/', elicitationId: 'e', acceptedAt: 5 }],
  askedAt: 1000,
}

function createDepsOf(options: LegacyOptions): CallDeps {
  const fail = (): never => {
    throw new Error('No request is made here')
  }
  const host = {
    innerExchange: fail,
    exchange: fail,
    info: { name: 'server', version: '1.0.0' },
    runtime: { ...platformRuntime, randomUuid: () => crypto.randomUUID() },
    ledger: createLedger(),
    state: sealedState({ keys: [randomBytes(32)] }),
    bus: memoryBus(),
    beginWork: () => () => {},
    log: () => {},
  }
  const settings = resolveLegacySettings(options, host)
  const deps = createCallDeps(createDeps(host as unknown as Parameters<typeof createDeps>[0], settings))
  createHttpAdapter(deps)
  return deps
}

const kinds: readonly (readonly [string, () => RoundStore])[] = [
  ['in memory', createMemoryRounds],
  ['in the state of its questions', () => createDepsOf({ questionState: true }).rounds],
  ['in the store of a link', () => createDepsOf({ store: memoryStore() }).rounds],
]

describe.each(kinds)('a round %s', (_, createStore) => {
  test('is found by an answer of its own session, and by no other [LEG-090 LEG-092]', async () => {
    const store = createStore()
    const { states } = await store.keep(round, client)
    for (const { id } of round.questions) {
      const answer = { jsonrpc: '2.0', id, result: {}, ...(states.has(id) && { state: states.get(id) ?? '' }) } as const
      expect(await store.findByAnswer(answer, 'session-2')).toBeUndefined()
      expect(await store.findByAnswer(answer, round.owner)).toMatchObject({ id: round.id, request: round.request })
    }
    expect(await store.findByAnswer({ jsonrpc: '2.0', id: 'other', result: {} }, round.owner)).toBeUndefined()
    expect(await store.findByStream(streamId, 'session-2')).toBeUndefined()
  })

  test('is claimed, and has no answers of other instances', async () => {
    const store = createStore()
    await store.keep(round, client)
    expect(await store.listAnswers(round)).toEqual([])
    expect(await store.claim(round, 'first')).toBe(true)
    store.release(round)
  })
})

test('a round in a store is claimed by one claimant, each time that it asks [LEG-093]', async () => {
  const shared = { store: memoryStore() }
  const [first, second] = [createDepsOf(shared).rounds, createDepsOf(shared).rounds]
  await first.keep(round, client)
  expect(await second.claim(round, 'one')).toBe(true)
  expect([await first.claim(round, 'one'), await second.claim(round, 'one')]).toEqual([false, true])
  expect(await second.claim(round, 'another of the same instance')).toBe(false)
})

test('a round in memory or in a store is found by its stream', async () => {
  for (const [name, createStore] of kinds) {
    if (name.includes('state')) continue
    const store = createStore()
    await store.keep(round, client)
    expect(await store.findByStream(streamId, round.owner)).toMatchObject({ id: round.id })
    expect(await store.claim(round, 'first')).toBe(true)
  }
})

test('a round is the same after encoding and decoding, except for texts of questions that are left out', () => {
  expect(decodeRound(encodeRound(round, { withParams: true }))).toEqual(round)
  const withoutParams = decodeRound(encodeRound(round, { withParams: false }))
  expect(withoutParams?.questions[0]).toEqual({ ...round.questions[0], params: undefined })
  expect(decodeRound(['of another version'])).toBeUndefined()
  expect(decodeRound(null)).toBeUndefined()
})
