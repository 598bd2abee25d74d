import type { JournalEntry, JournalStore } from '@x/exchange'
import { errorCodes, isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sheddingSettings } from '../internals.ts'
import { inputRequired, tool } from '../index.ts'
import { callOf, requestOf } from '../testing/ask.ts'
import { accept, replayModes, type RunHandler, send, type TestServer, serve } from '../testing/rounds.ts'
import { expandUuid } from './short-id.ts'

const named = z.object({ name: z.string().min(2) })

/** A journal store that logs its commits, and what a test adds in between. */
function recordingStore(journal: JsonObject, responses: JsonObject = {}) {
  const kept = new Map(Object.entries(journal))
  const log: string[] = []
  let noted: JournalEntry[] = []
  const put = ({ member: part, key, value }: JournalEntry): void => {
    log.push(key === undefined ? part : `${part}/${key}`)
    const before = kept.get(part)
    const member: JsonValue | undefined =
      key === undefined ? value : { ...(isJsonObject(before) && before), [key]: value }
    if (member === undefined) kept.delete(part)
    else kept.set(part, member)
  }
  const keep = (): void => {
    for (const entry of noted) put(entry)
    noted = []
  }
  const journalStore: JournalStore = {
    journal,
    responses,
    append: (entry) => void noted.push(entry),
    commit: () => {
      if (noted.length === 0) return undefined
      keep()
      log.push('kept')
      return Promise.resolve()
    },
  }
  return {
    log,
    journalStore,
    /** The journal with everything that was noted, as it is after the run. */
    after: (): JsonObject => {
      keep()
      return Object.fromEntries(kept)
    },
  }
}

/** The journal with which a call is handed over before its handler runs. */
async function begun(served: TestServer): Promise<JsonObject> {
  let journal: JsonObject = {}
  const begin = async (given: JsonObject) => {
    journal = JSON.parse(JSON.stringify(given))
    return { resultType: 'task', taskId: '1' }
  }
  await served.server.exchange(
    requestOf('tools/call', { name: 'do' }),
    callOf({ background: { accepted: true, begin } }),
  )
  return journal
}

const serveTask = (run: RunHandler, definition: object): TestServer =>
  serve(run, {
    tools: [tool('do', { description: 'Does', task: 'allowed', run: (_, ctx) => run(ctx) })],
    ...definition,
  })

/** Runs a call with a journal that is kept. */
async function runWith(served: TestServer, recorded: ReturnType<typeof recordingStore>) {
  const round = await send(served, {}, { journal: recorded.journalStore })
  return { round, journal: recorded.after() }
}

describe.each(replayModes)('a journal that is kept elsewhere ($strictReplay)', (definition) => {
  test('is handed over when the call is to go on as a task, with nothing run before', async () => {
    const runs: string[] = []
    const served = serveTask(() => `${runs.push('run')}`, definition)
    expect(await begun(served)).toEqual({ v: 2, flow: expect.any(String), began: expect.any(Number), round: 0 })
    expect(runs).toEqual([])
  })

  test('has every step before the handler continues, and the input of a step before the step', async () => {
    const recorded = recordingStore(await begun(serveTask(() => '', definition)))
    const served = serveTask(async (ctx) => {
      ctx.uuid('order')
      await ctx.step('one', () => void recorded.log.push('works'))
      return ctx.step('two', () => 'done')
    }, definition)
    const { round } = await runWith(served, recorded)
    expect(round.text).toBe('done')
    expect(recorded.log).toEqual(['uuids/order', 'kept', 'works', 'steps/one', 'kept', 'steps/two', 'kept'])
  })

  test('is the start of the next run, without a state for the client', async () => {
    const done: string[] = []
    const served = serveTask(async (ctx) => {
      const order = ctx.uuid('order')
      const at = ctx.checkpoint('scan', 0)
      if (at.value === 0) await at.save(3)
      const step = await ctx.step('plan', ({ idempotencyKey }) => (done.push(idempotencyKey), 'planned'))
      const { name } = await ctx.elicit('who', { message: 'Who?', schema: named })
      return `${step} for ${name} from ${at.value} as ${order} at ${ctx.now()}`
    }, definition)
    const first = await runWith(served, recordingStore(await begun(served)))
    expect([first.round.state, Object.keys(first.round.requests)]).toEqual([undefined, ['who']])
    expect(first.round.response).toMatchObject({ result: { resultType: 'input_required', inputRequests: { who: {} } } })
    const again = await runWith(served, recordingStore(first.journal, { who: accept({ name: 'Ada' }) }))
    const { uuids, began, flow } = first.journal
    const order = isJsonObject(uuids) ? uuids['order'] : undefined
    expect(again.round.text).toBe(`planned for Ada from 3 as ${order} at ${began}`)
    expect(done).toEqual([`${expandUuid(String(flow))}/plan`])
  })

  test('lets a question be asked where the server itself has no state', async () => {
    const served = serveTask(async (ctx) => (await ctx.elicit('who', { message: 'Who?', schema: named })).name, {
      ...definition,
      state: false,
    })
    const { round } = await runWith(served, recordingStore(await begun(served)))
    expect(round.response).toMatchObject({ result: { inputRequests: { who: {} } } })
  })

  test('gives an answer that did not fit a key of its own when it is asked for again', async () => {
    const served = serveTask(
      async (ctx) => (await ctx.elicit('who', { message: 'Who?', schema: named })).name,
      definition,
    )
    const first = await runWith(served, recordingStore(await begun(served)))
    const second = await runWith(served, recordingStore(first.journal, { who: accept({ name: 'A' }) }))
    expect(second.round.response).toMatchObject({ result: { inputRequests: { 'who~2': {} } } })
    const third = await runWith(
      served,
      recordingStore(second.journal, { who: accept({ name: 'A' }), 'who~2': accept({ name: 'Ada' }) }),
    )
    expect(third.round.text).toBe('Ada')
  })

  test('gives rounds in the protocol’s own terms keys of their own', async () => {
    const params = { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } } as const
    const served = serveTask((ctx) => {
      if (ctx.state === 2) return `${ctx.responses.size} answers`
      const state = ctx.state === 1 ? 2 : 1
      return inputRequired({ requests: { who: { method: 'elicitation/create', params } }, state })
    }, definition)
    const first = await runWith(served, recordingStore(await begun(served)))
    expect(first.round.response).toMatchObject({ result: { inputRequests: { 'who~r1': {} } } })
    const second = await runWith(served, recordingStore(first.journal, { 'who~r1': accept() }))
    expect(second.round.response).toMatchObject({ result: { inputRequests: { 'who~r2': {} } } })
    const third = await runWith(served, recordingStore(second.journal, { 'who~r1': accept(), 'who~r2': accept() }))
    expect(third.round.text).toBe('1 answers')
  })

  test('that cannot be kept ends the run, even if its handler continues, and no more work is done for the call', async () => {
    const done: string[] = []
    const served = serveTask(async (ctx) => {
      for (const key of ['one', 'two', 'three']) {
        try {
          await ctx.step(key, () => void done.push(key))
        } catch {
          // A handler that takes every failure for its own.
        }
      }
      return 'all is well'
    }, definition)
    const lost = recordingStore(await begun(served)).journalStore
    const { error } = await send(
      served,
      {},
      { journal: { ...lost, commit: () => (done.length === 0 ? undefined : Promise.reject(new Error('fenced'))) } },
    )
    expect([error, done]).toEqual([{ code: errorCodes.internal, message: 'Internal error' }, ['one']])
    expect(served.reported.map(({ error }) => String(error))).toEqual(['Error: fenced'])
  })

  test('that fails ends the call, although a parallel step never settles', async () => {
    const done: string[] = []
    const served = serveTask(async (ctx) => {
      const endless = ctx.step('endless', () => new Promise<void>(() => {}))
      await Promise.all([ctx.step('one', () => void done.push('one')), endless])
      return 'all is well'
    }, definition)
    const lost = recordingStore(await begun(served)).journalStore
    const commit = () => (done.length === 0 ? undefined : Promise.reject(new Error('fenced')))
    const { error } = await send(served, {}, { journal: { ...lost, commit } })
    expect(error).toEqual({ code: errorCodes.internal, message: 'Internal error' })
    expect(served.reported.map(({ error }) => String(error))).toEqual(['Error: fenced'])
  })

  test('of a later format is not touched, and the failure is not a result of the tool', async () => {
    const runs: string[] = []
    const served = serveTask(() => `${runs.push('run')}`, definition)
    const { round } = await runWith(served, recordingStore({ v: 2 }))
    expect([round.error, runs]).toEqual([{ code: errorCodes.internal, message: 'Internal error' }, []])
  })

  test('keeps a call where it is, though the server sheds every call, and lets it in, though the server is full', async () => {
    const hardLimit = { running: 1 }
    const shedding = sheddingSettings({ calls: 'all', policy: () => true, minWorkMs: 0, hardLimit })
    const served = serveTask(
      async (ctx) => {
        await ctx.step('one', () => 1)
        return ctx.step('two', () => 'stayed')
      },
      { ...definition, shedding },
    )
    const journal = await begun(served)
    const { round } = await runWith(served, recordingStore(journal))
    expect(round.text).toBe('stayed')
    expect(served.server.load.counters.handOffs.policy).toBe(0)
  })
})

test('a call that cannot be handed over fails as a call does, and not as a tool', async () => {
  const served = serveTask(() => 'done', {})
  const begin = () => Promise.reject(new Error('password of the database'))
  const { error } = await send(served, {}, { background: { accepted: true, begin } })
  expect(error).toEqual({ code: errorCodes.internal, message: 'Internal error' })
  expect(served.reported.map(({ error }) => String(error))).toEqual(['Error: password of the database'])
})
