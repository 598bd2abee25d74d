import type { ServerEvent } from '@x/exchange'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../index.ts'
import { sheddingSettings } from '../internals.ts'
import type { AskOptions } from '../testing/ask.ts'
import { observer } from '../testing/observer.ts'
import { accept, type HandlerKind, type RunHandler, send, serve, toolKind } from '../testing/rounds.ts'

/** A tool whose call may become a task. */
const taskKind: HandlerKind = {
  ...toolKind,
  offer: (run) => ({ tools: [tool('do', { description: 'Does', task: 'allowed', run: (_, ctx) => run(ctx) })] }),
}

/** Calls a handler once, and returns the events of the call and its response. */
async function callWithEvents(run: RunHandler, policy: () => boolean, options: AskOptions = {}) {
  const events: ServerEvent[] = []
  const settings = {
    strictReplay: false,
    shedding: sheddingSettings({ calls: 'all', policy, minWorkMs: 0 }),
    extensions: [observer((event) => void events.push(event))],
  }
  const { response } = await send(serve(run, settings, taskKind), {}, options)
  return { events, response }
}

test('the end of a run is emitted once, also if a step that still runs makes a call fail that was handed off', async () => {
  let finishSlowStep = (): void => {}
  const slow = new Promise<void>((resolve) => (finishSlowStep = resolve))
  const run: RunHandler = async (ctx) => {
    // A value that is no JSON fails the call.
    const slowStep = ctx.step('slow', () => slow.then(() => new Map() as never))
    slowStep.catch(() => {})
    try {
      await ctx.step('quick', () => 1)
    } finally {
      setImmediate(finishSlowStep)
    }
    return 'done'
  }
  const { events, response } = await callWithEvents(run, () => true)
  expect(response).not.toMatchObject({ result: { resultType: 'input_required' } })
  const ends = events.filter(({ type }) => type === 'run')
  expect(ends).toMatchObject([{ type: 'run', end: 'failed' }])
})

test('a call that is to be a task, which cannot be created, is emitted as failed', async () => {
  const background = { accepted: true, begin: () => Promise.reject(new Error('The store is away')) }
  const { events } = await callWithEvents(
    async () => 'done',
    () => false,
    { background },
  )
  expect(events.filter(({ type }) => type === 'run')).toMatchObject([{ type: 'run', end: 'failed' }])
})

test('a misuse by a step that still runs does not replace what a handler threw before its suspension', async () => {
  let [isHandedOff, finishSlowStep] = [false, (): void => {}]
  const slow = new Promise<void>((resolve) => (finishSlowStep = resolve))
  const run: RunHandler = async (ctx) => {
    ctx.step('slow', () => slow.then(() => new Map() as never)).catch(() => {})
    ctx.step('quick', () => 1).catch(() => {})
    // The hand-off stops the run, and the suspension comes in the next turn of the event loop.
    while (!isHandedOff) await Promise.resolve()
    setImmediate(() => setImmediate(finishSlowStep))
    throw new Error('of the handler')
  }
  const { events } = await callWithEvents(run, () => (isHandedOff = true))
  const [end] = events.filter(({ type }) => type === 'run')
  expect(end).toMatchObject({ end: 'failed', error: { message: 'of the handler' } })
})

test('an answer to a question whose text has changed since is not emitted, because it is not used', async () => {
  const events: ServerEvent[] = []
  let message = 'Which color?'
  const run: RunHandler = async (ctx) => (await ctx.elicit('color', { message, schema: z.object({}) }), 'done')
  const extensions = [observer((event) => void events.push(event))]
  const served = serve(run, { strictReplay: false, extensions })
  const { state, requests } = await send(served)
  const responses = Object.fromEntries(Object.keys(requests).map((wireKey) => [wireKey, accept()]))
  message = 'Which colour?'
  const second = await send(served, { state, responses })
  expect(Object.keys(second.requests)).toHaveLength(1)
  expect(events.filter(({ type }) => type === 'answer')).toEqual([])
  const repeated = Object.fromEntries(Object.keys(second.requests).map((wireKey) => [wireKey, accept()]))
  expect((await send(served, { state: second.state, responses: repeated })).text).toBe('done')
  expect(events.filter(({ type }) => type === 'answer')).toMatchObject([{ key: 'color', action: 'accept' }])
})
