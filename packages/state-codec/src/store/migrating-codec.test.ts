import type { JsonValue } from '@x/core'
import { describe, expect, test } from 'vitest'
import {
  memoryStore,
  migratingState,
  type MigratingCodec,
  type MigratingOptions,
  type MigrationEvent,
  type MigrationPhase,
  randomKey,
  sealedState,
  singleUseState,
  type StateStore,
  storedState,
} from '../node.ts'
import { StateError } from '../state-error.ts'

const context = { purpose: 'tools/call', binding: { principal: 'ada' } }
const hour = 3_600_000
const phases: readonly MigrationPhase[] = ['store', 'dual', 'state-first', 'state']
const key = randomKey()

/** A fleet that shares a store, keys and a clock; its instances may be in different phases. */
function createFleet() {
  let now = 1_800_000_000_000
  const clock = { now: () => now }
  const store = memoryStore({ runtime: clock })
  const events: MigrationEvent[] = []
  const onEvent = (event: MigrationEvent): void => void events.push(event)
  return {
    clock,
    store,
    events,
    state: sealedState({ keys: [key], runtime: clock }),
    advance: (ms: number): void => void (now += ms),
    instance(phase: MigrationPhase, options: Partial<MigratingOptions> = {}): MigratingCodec {
      return migratingState({
        phase,
        state: sealedState({ keys: [key], runtime: clock }),
        store,
        runtime: clock,
        onEvent,
        ...options,
      })
    },
  }
}

const codeOf = (opening: Promise<JsonValue>): Promise<unknown> => opening.catch(({ code }: StateError) => code)

describe('a migration from a store to none [STA-009]', () => {
  test.each([
    ['store', 'dual'],
    ['dual', 'state-first'],
    ['state-first', 'state'],
  ] as const)(
    'while instances move from %s to %s, and back, every token opens on all of them',
    async (before, after) => {
      const { instance, events } = createFleet()
      for (let moved = 0; moved <= 3; moved++) {
        const instances = [0, 1, 2].map((at) => instance(at < moved ? after : before))
        for (const maker of instances) {
          const token = await maker.seal({ moved }, context)
          for (const reader of instances) expect(await reader.open(token, context)).toEqual({ moved })
        }
      }
      expect(events.filter(({ type }) => type !== 'handle_only')).toEqual([])
    },
  )

  test('it begins with the handles of storedState(), and ends with tokens that sealedState() opens', async () => {
    const { instance, store, clock, state } = createFleet()
    const handle = await storedState({ store, runtime: clock }).seal('before', context)
    for (const phase of ['store', 'dual', 'state-first'] as const)
      expect(await instance(phase).open(handle, context)).toBe('before')
    expect(await state.open(await instance('state').seal('after', context), context)).toBe('after')
    expect(
      await storedState({ store, runtime: clock }).open(await instance('store').seal('back', context), context),
    ).toBe('back')
  })

  test('every phase except "state" rejects a missing store', async () => {
    const { state, clock } = createFleet()
    const codec = migratingState({ phase: 'state', state, runtime: clock })
    expect(await codec.open(await codec.seal(1, context), context)).toBe(1)
    expect(() => migratingState({ phase: 'dual', state })).toThrow('The phase "dual" needs a store')
    expect(() => migratingState({ phase: 'phase-1' as never, state })).toThrow('give store, dual, state-first, state')
  })

  test('a handle that arrives in the phase without a store is rejected and counted', async () => {
    const { instance } = createFleet()
    const handle = await instance('store').seal(1, context)
    const codec = instance('state', { store: undefined })
    expect(await codeOf(codec.open(handle, context))).toBe('missing')
    expect(codec.report()).toMatchObject({ rejectedCount: 1, handleOnlyCount: 1, canAdvance: false })
  })
})

describe('in the phase "dual"', () => {
  test('the store decides, and both results are compared', async () => {
    const { instance } = createFleet()
    const codec = instance('dual')
    const token = await codec.seal({ answer: 42 }, context)
    expect(await codec.open(token, context)).toEqual({ answer: 42 })
    expect(await codeOf(codec.open(token, { ...context, binding: 'eve' }))).toBe('binding')
    expect(codec.report()).toMatchObject({
      sealedCount: 1,
      openedCount: 1,
      rejectedCount: 1,
      agreedCount: 2,
      mismatchCount: 0,
    })
  })

  test('a state that does not open where the store does is a mismatch, with its code and without its value', async () => {
    const { instance, events } = createFleet()
    const token = await instance('dual').seal({ secret: 'hunter2' }, context)
    const other = instance('dual', { state: sealedState({ keys: [randomKey()] }) })
    expect(await other.open(token, context)).toEqual({ secret: 'hunter2' })
    expect(other.report()).toMatchObject({ openedCount: 1, agreedCount: 0, mismatchCount: 1 })
    expect(events).toMatchObject([{ type: 'mismatch', phase: 'dual', purpose: 'tools/call', code: 'unknown_key' }])
    expect(JSON.stringify(events)).not.toContain('hunter2')
  })

  test('a state that opens to another value is a mismatch, and the store decides', async () => {
    const { instance, state } = createFleet()
    const lossy = { ...state, open: async (): Promise<JsonValue> => 'something else' }
    const codec = instance('dual', { state: lossy })
    expect(await codec.open(await codec.seal('right', context), context)).toBe('right')
    expect(codec.report().mismatchCount).toBe(1)
  })

  test('a state that is too large for a token is kept in the store, and is counted', async () => {
    const { instance, events } = createFleet()
    const codec = instance('dual')
    const value = 'x'.repeat(40_000)
    const token = await codec.seal(value, context)
    expect(token).toHaveLength(43)
    expect(await codec.open(token, context)).toBe(value)
    expect(codec.report()).toMatchObject({ unsealableCount: 1, handleOnlyCount: 1 })
    expect(events[0]?.cause).toMatchObject({ code: 'too_large' })
  })

  test('without the store nothing opens, and that is not taken for a mismatch', async () => {
    const { instance } = createFleet()
    const token = await instance('dual').seal(1, context)
    const codec = instance('dual', { store: brokenStore() })
    expect(await codeOf(codec.open(token, context))).toBe('unavailable')
    expect(codec.report()).toMatchObject({ mismatchCount: 0, agreedCount: 0, rejectedCount: 1 })
    await expect(codec.seal(1, context)).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describe('in the phase "state-first"', () => {
  test('the store is not asked while states open', async () => {
    const { instance } = createFleet()
    const token = await instance('state-first').seal('value', context)
    const codec = instance('state-first', { store: brokenStore() })
    expect(await codec.open(token, context)).toBe('value')
    expect(codec.report()).toMatchObject({ openedCount: 1, fallbackCount: 0 })
  })

  test('a state that does not open falls back to the store, and is counted [STA-007]', async () => {
    const { instance, events } = createFleet()
    const token = await instance('state-first').seal('value', context)
    const codec = instance('state-first', { state: sealedState({ keys: [randomKey()] }) })
    expect(await codec.open(token, context)).toBe('value')
    expect(codec.report()).toMatchObject({ openedCount: 1, fallbackCount: 1, canAdvance: false })
    expect(events).toMatchObject([{ type: 'fallback', code: 'unknown_key' }])
  })

  test('a store that cannot be written is counted, and the state travels alone', async () => {
    const { instance, state } = createFleet()
    const codec = instance('state-first', { store: brokenStore() })
    const token = await codec.seal('value', context)
    expect(await state.open(token, context)).toBe('value')
    expect(codec.report()).toMatchObject({ sealedCount: 1, storeFailureCount: 1 })
  })

  test.each([
    ['another principal', { ...context, binding: { principal: 'eve' } }, 'binding'],
    ['another purpose', { ...context, purpose: 'prompts/get' }, 'forged'],
  ] as const)('the store does not make up for %s', async (_, other, code) => {
    const { instance } = createFleet()
    const codec = instance('state-first')
    expect(await codeOf(codec.open(await codec.seal(1, context), other))).toBe(code)
  })

  test('while the store is away, a state of another key is no final error, because the store may open it later', async () => {
    const { instance } = createFleet()
    const token = await instance('state-first').seal('value', context)
    const codec = instance('state-first', { state: sealedState({ keys: [randomKey()] }), store: brokenStore() })
    expect(await codeOf(codec.open(token, context))).toBe('unavailable')
  })

  test('what has expired falls back to nothing', async () => {
    const { instance, advance } = createFleet()
    const codec = instance('state-first')
    const token = await codec.seal(1, context)
    advance(hour)
    expect(await codeOf(codec.open(token, context))).toBe('expired')
  })
})

describe('the two parts of a token belong together', () => {
  test.each(phases.slice(1, 3))(
    'in the phase %s neither opens alone, altered, or with the part of another',
    async (phase) => {
      const { instance, state } = createFleet()
      const codec = instance(phase)
      const [one, other] = [await codec.seal('one', context), await codec.seal('other', context)]
      const [handle = '', token = ''] = one.split('~')
      const [otherHandle = '', otherToken = ''] = other.split('~')
      const altered = token.slice(0, -1) + (token.endsWith('A') ? 'Q' : 'A')
      const forged = [
        handle,
        token,
        `${otherHandle}~${token}`,
        `${handle}~${otherToken}`,
        `${handle}~${altered}`,
        `${handle}~`,
        `~${token}`,
      ]
      for (const each of forged) {
        for (const reader of phases.map((at) => instance(at)))
          await expect(reader.open(each, context)).rejects.toBeInstanceOf(StateError)
      }
      await expect(state.open(token, context)).rejects.toMatchObject({ code: 'binding' })
    },
  )

  test('a token can still be used only once', async () => {
    const { instance, store } = createFleet()
    const codec = singleUseState(instance('state-first'), store)
    const token = await codec.seal(1, context)
    expect(await codec.open(token, context)).toBe(1)
    const [handle = '', state = ''] = token.split('~')
    expect(await codeOf(codec.open(token, context))).toBe('used')
    for (const part of [handle, state]) expect(await codeOf(codec.open(part, context))).not.toBe(1)
  })

  test.each(phases)('in the phase %s, a codec that opens once is refused, because the store opens again', (phase) => {
    const { instance, state, store } = createFleet()
    expect(() => instance(phase, { state: singleUseState(state, store) })).toThrow(
      'write singleUseState(migratingState({ … }), store)',
    )
  })
})

describe('the report', () => {
  test('the advice is to advance after one token lifetime without a problem', async () => {
    const { instance, advance } = createFleet()
    const codec = instance('dual')
    await codec.open(await codec.seal(1, context), context)
    expect(codec.report()).toMatchObject({ canAdvance: false, advice: expect.stringMatching(/^Stay, and wait/) })
    advance(25 * hour)
    expect(codec.report()).toMatchObject({ canAdvance: true, advice: 'Advance to "state-first"' })
  })

  test('canAdvance is false for one token lifetime after the last problem', async () => {
    const { instance, advance, clock } = createFleet()
    const token = await instance('dual').seal(1, context)
    const codec = instance('dual', { state: sealedState({ keys: [randomKey()], runtime: clock }) })
    await codec.open(token, context)
    const at = clock.now()
    advance(24 * hour)
    expect(codec.report()).toMatchObject({
      lastProblemAt: at,
      canAdvance: false,
      advice: expect.stringMatching(/^Investigate/),
    })
    advance(hour)
    expect(codec.report().canAdvance).toBe(true)
  })

  test('an idle instance does not report that it can advance', () => {
    const { instance, advance } = createFleet()
    const codec = instance('state-first')
    advance(100 * hour)
    expect(codec.report().canAdvance).toBe(false)
  })
})

function brokenStore(): StateStore {
  const fail = async (): Promise<never> => {
    throw new Error('connect ECONNREFUSED')
  }
  return { add: fail, get: fail, delete: fail }
}
