import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { isSuspension, ToolError } from '../index.ts'
import { completeCall, replayModes, type RunHandler, send, serve } from '../testing/rounds.ts'

const sure = { message: 'Are you sure?', schema: z.object({}) }
const decline = { action: 'decline' }
const later = () => new Promise<void>((resolve) => setImmediate(resolve))
const fail = () => Promise.reject(new Error('no such item'))

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  test('a failure that was handled before a question does not excuse a handler that leaves the question', async () => {
    const run: RunHandler = async (ctx) => {
      await ctx.step('probe', fail).catch(() => {})
      await Promise.race([ctx.elicit('sure', sure), Promise.resolve()])
      return 'deleted'
    }
    const { text } = await completeCall(serve(run, mode))
    expect(text).not.toBe('deleted')
  })

  test('a question beside a failed step does not fail the call when another step is slow', async () => {
    const run: RunHandler = (ctx) => {
      const slow = async () => {
        for (let turn = 0; turn < 20; turn += 1) await later()
      }
      const parts = [ctx.elicit('sure', sure), ctx.step('read', fail), ctx.step('slow', slow)]
      return Promise.all(parts).then(
        () => 'deleted',
        (error) => (isSuspension(error) ? Promise.reject(error) : 'left alone'),
      )
    }
    const served = serve(run, { ...mode, strictReplay: false })
    const { text } = await completeCall(served, { sure: decline })
    expect([text, served.reported]).toEqual(['left alone', []])
  })

  test('a misuse by a step that still runs does not replace the error that the handler threw', async () => {
    const run: RunHandler = async (ctx) => {
      void ctx.step('count', async () => {
        await later()
        return 10n as unknown as string
      })
      throw new ToolError('There is no such item')
    }
    const served = serve(run, mode)
    const { text } = await send(served)
    expect([text, served.reported.length]).toEqual(['There is no such item', 1])
  })
})
