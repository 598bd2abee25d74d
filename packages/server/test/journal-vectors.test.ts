import { readFileSync } from 'node:fs'
import { sealedState } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { parseJournal, serializeJournal } from '../src/replay/journal-format.ts'
import { inputRequired } from '../src/index.ts'
import { type RunHandler, send, serve, type TestServer } from '../src/testing/rounds.ts'
import type { JsonObject } from '@x/schema'

/** A call that an earlier version began: its `requestState`, and the journal in it. */
interface Vector {
  /** The handler of `handlers` that the call runs. */
  readonly handler: string
  /** The time at which the state was sealed, in milliseconds since the epoch. */
  readonly now: number
  readonly requestState: string
  readonly journal: JsonObject
  readonly inputResponses: JsonObject
  /** The text of the result that ends the call. */
  readonly text: string
}

const keys = ['790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef']
const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }

const handlers: Readonly<Record<string, RunHandler>> = {
  'asks twice': async (ctx) => {
    const one = await ctx.elicit('one', { message: 'One?', schema })
    const two = await ctx.elicit('two', { message: 'Two?', schema })
    return JSON.stringify([one, two])
  },
  'has steps and a UUID': async (ctx) => {
    const step = await ctx.step('save', () => ({ saved: 'again' }))
    const uuid = await ctx.uuid('id')
    await ctx.elicit('continue', { message: 'Continue?', schema })
    return JSON.stringify([step, uuid])
  },
  'returns inputRequired': ({ state, responses }) =>
    state === undefined
      ? inputRequired({ requests: { where: { method: 'roots/list' } }, state: { page: 2 } })
      : JSON.stringify([state, [...responses.keys()]]),
}

function serverOf({ handler, now }: Vector): TestServer {
  const run = handlers[handler] ?? (() => 'no such handler')
  return serve(run, { state: sealedState({ keys, runtime: { now: () => now } }), name: 'vectors' })
}

// The file belongs to this package, and the test uses every member of an entry.
const vectors: readonly Vector[] = JSON.parse(readFileSync(new URL('./vectors/journals.json', import.meta.url), 'utf8'))

describe.each(vectors)('a call of an earlier version that $handler', (vector) => {
  test('is continued with its requestState, and no step runs again', async () => {
    const { text, error } = await send(serverOf(vector), {
      state: vector.requestState,
      responses: vector.inputResponses,
    })
    expect([error, text]).toEqual([undefined, vector.text])
  })

  test('has a journal that is read and written as it was', () => {
    const journal = parseJournal(vector.journal)
    expect(journal && serializeJournal(journal)).toMatchObject(vector.journal)
  })
})
