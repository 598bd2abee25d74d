import { isJsonObject, type JsonObject, type RpcResponse } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sheddingSettings } from '../internals.ts'
import { type Context, HandlerError, isSuspension } from '../index.ts'
import { callOf, requestOf } from '../testing/ask.ts'
import { fullCapabilities, completeCall, replayModes, send, serve, type TestServer } from '../testing/rounds.ts'

/** The ends that compete, and `cancelled`: the caller aborts its call. */
type End =
  | 'store_failed'
  | 'misused'
  | 'asked'
  | 'finished'
  | 'threw'
  | 'became_task'
  | 'handed_off'
  | 'restarted'
  | 'cancelled'

const question = { message: 'What?', schema: z.object({}) }
const step = (ctx: Context, key: string) => ctx.step(key, () => 1)

/** Calls by which a handler ends its run in this way; returning and throwing are done at its end. */
const acts: Readonly<Record<End, (ctx: Context, key: string) => Promise<unknown>>> = {
  store_failed: step,
  misused: (ctx) => ctx.step('two words', () => 1),
  asked: (ctx, key) => ctx.elicit(key, question),
  finished: async () => {},
  threw: async () => {},
  became_task: (ctx) => ctx.continueAsTask(),
  handed_off: step,
  restarted: step,
  cancelled: async () => {},
}

/** More microtasks than a step takes: its end is known, and the event loop has not turned. */
async function inThisTick(): Promise<void> {
  for (let task = 0; task < 50; task++) await Promise.resolve()
}

/** Runs a handler that does both within one turn of the event loop, the first of them first. */
async function endOf(first: End, second: End) {
  const ends = [first, second]
  const controller = new AbortController()
  let runs = 0
  let isLeaving = false
  const run = async (ctx: Context) => {
    if (++runs > 1) return `run ${runs}`
    const started: Promise<unknown>[] = []
    for (const end of ends) {
      isLeaving ||= end === 'handed_off'
      started.push(acts[end](ctx, end))
      await inThisTick()
    }
    if (ends.includes('cancelled')) controller.abort(new Error('cancelled'))
    if (ends.includes('finished')) return 'finished'
    if (ends.includes('threw')) throw new Error('threw')
    for (const outcome of await Promise.allSettled(started))
      if (outcome.status === 'rejected' && isSuspension(outcome.reason)) throw outcome.reason
    throw new Error('threw')
  }
  const shedding = sheddingSettings({ calls: 'all', policy: () => isLeaving, minWorkMs: 0 })
  const served = serve(run, { strictReplay: ends.includes('restarted'), shedding })
  const response = served.server.exchange(
    requestOf(
      'tools/call',
      { name: 'do' },
      { meta: { 'io.modelcontextprotocol/clientCapabilities': fullCapabilities } },
    ),
    callOf({
      signal: controller.signal,
      ...(ends.includes('became_task') && { background }),
      ...(ends.includes('store_failed') && { journal: failingStore }),
    }),
  )
  const end = await response.then(
    (answer) => endShown(answer, served),
    (error: Error) => error.message,
  )
  return { end, loadAfter: served.server.load.running }
}

const background = { accepted: true, begin: async () => ({ resultType: 'task', taskId: '1' }) }

const emptyJournal = { v: 2, flow: '1', began: 0, round: 0 }
const failingStore = {
  journal: emptyJournal,
  responses: {},
  append() {},
  commit: () => Promise.reject(new Error('store_failed')),
}

/** The end that an answer and the reports to the author show. */
function endShown(response: RpcResponse, { reported }: TestServer): string {
  const [error] = reported.map((report) => report.error)
  if (error instanceof HandlerError) return 'misused'
  if ('result' in response) return resultShown(response.result)
  return error instanceof Error ? error.message : JSON.stringify(response)
}

function resultShown({ resultType, inputRequests, content, isError }: JsonObject): string {
  if (resultType === 'task') return 'became_task'
  if (resultType === 'input_required') return isJsonObject(inputRequests) ? 'asked' : 'handed_off'
  if (isError === true) return 'threw'
  const [part] = Array.isArray(content) ? content : []
  return isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : ''
}

/** A row for each end, with the ends that it competes with and the one that wins. */
const precedence: Readonly<Partial<Record<End, Partial<Record<End, string>>>>> = {
  misused: {
    asked: 'misused',
    finished: 'misused',
    threw: 'misused',
    became_task: 'misused',
    handed_off: 'misused',
    restarted: 'misused',
    cancelled: 'cancelled',
  },
  asked: {
    finished: 'misused',
    threw: 'asked',
    became_task: 'asked',
    handed_off: 'asked',
    cancelled: 'asked',
  },
  finished: {
    became_task: 'finished',
    handed_off: 'finished',
    // Strict replay rejects a step that the handler did not wait for.
    restarted: 'misused',
    cancelled: 'finished',
  },
  threw: {
    became_task: 'threw',
    handed_off: 'threw',
    restarted: 'threw',
    cancelled: 'cancelled',
  },
  became_task: { handed_off: 'became_task', restarted: 'became_task', cancelled: 'became_task' },
  handed_off: { restarted: 'handed_off', cancelled: 'handed_off' },
  restarted: { cancelled: 'run 2' },
  store_failed: {
    misused: 'store_failed',
    asked: 'store_failed',
    finished: 'store_failed',
    threw: 'store_failed',
    cancelled: 'cancelled',
  },
}

/** The ends by which a handler ends itself come last. */
const isLast = (end: End): boolean => end === 'finished' || end === 'threw' || end === 'cancelled'

const cells = Object.entries(precedence).flatMap(([one, row]) =>
  Object.entries(row).flatMap(([other, winner]) => {
    const [first, second] = [one as End, other as End]
    return [[first, second, winner] as const, [second, first, winner] as const].filter(
      ([end, next]) => !isLast(end) && !(end === 'restarted' && next === 'handed_off'),
    )
  }),
)

describe('of two ends in one turn of the event loop', () => {
  test.each(cells)('%s, then %s: %s', async (first, second, winner) => {
    const { end, loadAfter } = await endOf(first, second)
    expect([end, loadAfter]).toEqual([winner, 0])
  })

  test('restarted, then handed_off: a run that is being stopped is not handed off', async () => {
    const { end } = await endOf('restarted', 'handed_off')
    expect(end).toBe('run 2')
  })
})

test('a question ends a run under strict replay, as without it, though a step beside it restarts the handler', async () => {
  const done: string[] = []
  let runs = 0
  const steps = async (ctx: Context) => {
    for (const key of ['one', 'two', 'three']) await ctx.step(key, () => void done.push(key))
  }
  const run = async (ctx: Context) => {
    runs++
    await Promise.all([steps(ctx), ctx.elicit('a', question)])
    return 'done'
  }
  const { asked, text } = await completeCall(serve(run, { strictReplay: true }), {
    a: { action: 'accept', content: {} },
  })
  expect([asked, text, done]).toEqual([[['a']], 'done', ['one', 'two', 'three']])
  // The steps beside an open question do not restart the handler. The question is asked twice, to compare its runs.
  expect(runs).toBe(3)
})

test('a question that is asked beside a hand-off is compared with that of another run, as any question is', async () => {
  let runs = 0
  const run = async (ctx: Context) => {
    runs++
    await Promise.all([
      ctx.step('one', () => 1),
      inThisTick().then(() => ctx.elicit('a', { ...question, message: `What in run ${runs}?` })),
    ])
    return 'done'
  }
  const shedding = sheddingSettings({ calls: 'all', policy: () => runs === 1, minWorkMs: 0 })
  const served = serve(run, { strictReplay: true, shedding })
  const { requests } = await send(served)
  expect(Object.keys(requests)).toEqual(['a'])
  expect(served.warnings.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /wrote its question "a" differently when it ran again: .*What in run 2.* instead of .*What in run 1/,
    ),
  ])
})

test.each(replayModes)(
  'a question of a cancelled call rejects with the reason, because its handler does not run again: %j',
  async (mode) => {
    const controller = new AbortController()
    const reason = new Error('The user has left')
    const seen: unknown[] = []
    const ask = (ctx: Context, key: string) => ctx.elicit(key, question).catch((error: unknown) => seen.push(error))
    const run = async (ctx: Context) => {
      controller.abort(reason)
      await ask(ctx, 'a')
      await ask(ctx, 'b')
      seen.push(ctx.signal.reason)
      return 'undone'
    }
    const served = serve(run, mode)
    expect((await send(served, {}, { signal: controller.signal })).text).toBe('undone')
    expect([seen, served.warnings, served.reported]).toEqual([[reason, reason, reason], [], []])
  },
)
