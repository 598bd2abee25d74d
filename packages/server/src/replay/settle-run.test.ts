import type { JournalStore } from '@x/exchange'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Context, isSuspension, ToolError } from '../index.ts'
import { sheddingSettings } from '../internals.ts'
import { replayModes, type RunHandler, send, serve } from '../testing/rounds.ts'

const question = { message: 'Which?', schema: z.object({}) }
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await nextTurn()
}
const declined = () => Promise.reject(new Error('card declined'))

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  test.each([0, 5])(
    'a caught failure excuses the question beside it, however long the catch takes (%i turns)',
    async (count) => {
      const run: RunHandler = async (ctx) => {
        try {
          await Promise.all([ctx.elicit('a', question), ctx.step('charge', declined)])
          return 'charged'
        } catch (error) {
          if (isSuspension(error)) throw error
          await turns(count)
          return 'fallback'
        }
      }
      expect(await send(serve(run, mode))).toMatchObject({ text: 'fallback', requests: {} })
    },
  )

  test('a caught failure excuses the step beside it, whose error is logged', async () => {
    const run: RunHandler = async (ctx) => {
      const slow = ctx.step('slow', () => turns(5).then(() => Promise.reject(new Error('no stock'))))
      await Promise.all([ctx.step('charge', declined), slow]).catch(() => {})
      return 'fallback'
    }
    const served = serve(run, { strictReplay: false })
    expect((await send(served)).text).toBe('fallback')
    expect(served.reported).toMatchObject([{ error: { cause: { message: 'no stock' } } }])
  })
})

test('a step that succeeds after its handler threw is not logged as failed', async () => {
  const run: RunHandler = (ctx) => {
    void ctx.step('charge', () => turns(5).then(() => 1))
    throw new ToolError('no')
  }
  const served = serve(run, { strictReplay: false })
  expect(await send(served)).toMatchObject({ text: 'no', isError: true })
  expect(served.reported).toEqual([])
})

test('the error of a step that nothing awaits is logged, also if the handler threw while its call was to be handed off', async () => {
  let isHandedOff = false
  const run: RunHandler = async (ctx) => {
    void ctx.step('charge', declined)
    void ctx.step('quick', () => 1)
    while (!isHandedOff) await Promise.resolve()
    throw new ToolError('no')
  }
  const policy = () => (isHandedOff = true)
  const served = serve(run, { strictReplay: false, shedding: sheddingSettings({ calls: 'all', policy, minWorkMs: 0 }) })
  expect(await send(served)).toMatchObject({ text: 'no', isError: true })
  expect(served.reported).toMatchObject([{ error: { cause: { message: 'card declined' } } }])
})

describe('the run of a task', () => {
  const emptyStore = (commit: JournalStore['commit']): JournalStore => ({
    journal: { v: 2, flow: '1', began: 0, round: 0 },
    responses: {},
    append() {},
    commit,
  })

  test('does not wait for steps once its journal could not be stored', async () => {
    const store = emptyStore(() => Promise.reject(new Error('The lease has ended')))
    const run = async (ctx: Context): Promise<string> => {
      const never = ctx.step('never', () => new Promise<never>(() => {}))
      await Promise.all([ctx.step('quick', () => 1), never])
      return 'done'
    }
    const { error } = await send(serve(run, { strictReplay: false }), {}, { journal: store })
    expect(error).toMatchObject({ code: -32603 })
  })

  test('begins no work after its handler has thrown', async () => {
    let finishCommit = (): void => {}
    const store = emptyStore(() => new Promise((resolve) => (finishCommit = resolve)))
    const done: string[] = []
    const run: RunHandler = (ctx) => {
      // The UUID has to be stored before the work of the step begins.
      ctx.uuid('order')
      void ctx.step('charge', () => void done.push('charge'))
      setImmediate(() => finishCommit())
      throw new ToolError('no')
    }
    const served = serve(run, { strictReplay: false })
    expect(await send(served, {}, { journal: store })).toMatchObject({ text: 'no' })
    expect(done).toEqual([])
  })
})
