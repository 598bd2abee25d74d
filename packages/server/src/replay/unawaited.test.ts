import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sheddingSettings } from '../internals.ts'
import { type Context, HandlerError, InputDeclined, isSuspension, ToolError } from '../index.ts'
import { accept, completeCall, handlerKinds, replayModes, type RunHandler, send, serve } from '../testing/rounds.ts'

const sure = { message: 'Are you sure?', schema: z.object({}) }
const decline = { action: 'decline' }
const later = () => new Promise<void>((resolve) => setImmediate(resolve))
const fails = async () => {
  await later()
  throw new Error('card declined')
}

/** The single error that the author received. */
function reportedError({ reported }: ReturnType<typeof serve>) {
  expect(reported).toHaveLength(1)
  expect(reported[0]?.where).toMatchObject({ name: expect.stringMatching(/^do/) })
  return reported[0]?.error
}

describe('a step that the handler did not wait for', () => {
  const runs: [string, (ctx: Context, work: () => Promise<unknown>) => unknown][] = [
    ['is not awaited', (ctx, work) => void ctx.step('charge', work)],
    [
      'is awaited in a loop that nothing waits for',
      (ctx, work) => void [1].forEach(async () => ctx.step('charge', work)),
    ],
    ['loses a race', (ctx, work) => Promise.race([ctx.step('charge', work), Promise.resolve()])],
  ]

  describe.each(handlerKinds)('in a $kind', (kind) => {
    test.each(runs)('and that %s ends before the reply', async (_, start) => {
      let charged = 0
      const work = async () => {
        await later()
        charged++
      }
      const run: RunHandler = async (ctx) => {
        await start(ctx, work)
        return 'ordered'
      }
      const served = serve(run, { strictReplay: false }, kind)
      expect([(await send(served)).text, charged, served.reported]).toEqual(['ordered', 1, []])
    })

    test.each(runs)('and that %s fails the call when it fails, and its author reads where', async (_, start) => {
      const unhandled: unknown[] = []
      const run: RunHandler = async (ctx) => {
        // A promise of the author that no code awaits rejects after the handler as well.
        process.once('unhandledRejection', (error) => unhandled.push(error))
        await start(ctx, fails)
        return 'ordered'
      }
      const others = process.listeners('unhandledRejection')
      process.removeAllListeners('unhandledRejection')
      const served = serve(run, { strictReplay: false }, kind)
      const { text, isError, error } = await send(served)
      await later()
      process.removeAllListeners('unhandledRejection')
      for (const listener of others) process.on('unhandledRejection', listener)
      expect(text === 'ordered').toBe(false)
      expect(isError || error !== undefined).toBe(true)
      const reported = reportedError(served)
      expect(reported).toBeInstanceOf(HandlerError)
      expect(reported).toMatchObject({
        code: 'unawaited',
        message: expect.stringMatching(/^ctx\.step\("charge"\) of "do.*" failed, .*: await every question and step$/),
        cause: { message: 'card declined' },
        stack: expect.stringMatching(/^HandlerError: .+\n\s+at [^\n]*unawaited\.test\.ts/),
      })
    })

    test.each(runs)('and that %s is rejected under strict replay, though it succeeds', async (_, start) => {
      const run: RunHandler = async (ctx) => {
        await start(ctx, later)
        return 'ordered'
      }
      const served = serve(run, { strictReplay: true }, kind)
      expect((await send(served)).text).not.toBe('ordered')
      expect(reportedError(served)).toMatchObject({
        code: 'unawaited',
        message: expect.stringMatching(/^"do.*" returned without waiting for ctx\.step\("charge"\): await every /),
        stack: expect.stringMatching(/^HandlerError: .+\n\s+at [^\n]*unawaited\.test\.ts/),
      })
    })
  })

  test('and the step that begins behind it both end before the reply', async () => {
    const done: string[] = []
    const run: RunHandler = (ctx) => {
      const orderAll = async () => {
        for (const key of ['one', 'two', 'three']) {
          await ctx.step(key, async () => {
            await later()
            done.push(key)
          })
        }
      }
      void orderAll()
      return 'ordered'
    }
    expect((await send(serve(run, { strictReplay: false }))).text).toBe('ordered')
    expect(done).toEqual(['one', 'two', 'three'])
  })

  test.each(replayModes)('ends before the error that the handler threw, $strictReplay', async (mode) => {
    const log: string[] = []
    const run: RunHandler = async (ctx) => {
      void ctx.step('charge', async () => {
        await later()
        log.push('charged')
        throw new Error('card declined')
      })
      throw new ToolError('no such item')
    }
    const served = serve(run, mode)
    const { text } = await send(served)
    expect([text, log]).toEqual(['no such item', ['charged']])
    expect(reportedError(served)).toMatchObject({ code: 'unawaited', cause: { message: 'card declined' } })
  })

  test('does not move its call to another instance', async () => {
    const run: RunHandler = (ctx) => {
      void ctx.step('charge', later)
      return 'ordered'
    }
    const shedding = sheddingSettings({ calls: 'all', policy: () => true, minWorkMs: 0 })
    expect((await send(serve(run, { strictReplay: false, shedding }))).text).toBe('ordered')
  })
})

describe.each(replayModes)('a question without an answer, with strictReplay $strictReplay,', (mode) => {
  const runs: [string, RunHandler, string, RegExp][] = [
    [
      'that is not awaited',
      (ctx) => {
        void ctx.elicit('sure', sure)
        return 'deleted'
      },
      'unawaited',
      /returned without waiting for ctx\.elicit\("sure"\)/,
    ],
    [
      'whose suspension is swallowed',
      async (ctx) => {
        await ctx.elicit('sure', sure).catch(() => {})
        return 'deleted'
      },
      'swallowed',
      /caught the suspension of ctx\.elicit\("sure"\) and returned: .*isSuspension/,
    ],
    [
      'whose suspension is swallowed with others',
      async (ctx) => {
        await Promise.allSettled([ctx.elicitResult('sure', sure), ctx.roots('places')])
        return 'deleted'
      },
      'swallowed',
      /caught the suspension of ctx\.elicitResult\("sure"\)/,
    ],
    [
      'that loses a race',
      async (ctx) => {
        await Promise.race([ctx.elicit('sure', sure), Promise.resolve()])
        return 'deleted'
      },
      'unawaited',
      /returned without waiting for ctx\.elicit\("sure"\)/,
    ],
    [
      'that is asked behind a step that nothing waits for',
      (ctx) => {
        const ask = async () => {
          await ctx.step('read', later).catch(() => {})
          await ctx.elicit('sure', sure).catch(() => {})
        }
        void ask()
        return 'deleted'
      },
      'unawaited',
      mode.strictReplay ? /ctx\.step\("read"\)/ : /ctx\.elicit\("sure"\)/,
    ],
  ]
  test.each(runs)('%s fails the call', async (_, run, code, message) => {
    const served = serve(run, mode)
    expect(await send(served)).toMatchObject({ requests: {}, text: 'Tool "do" failed', isError: true })
    expect(reportedError(served)).toMatchObject({
      code,
      message: expect.stringMatching(message),
      stack: expect.stringMatching(/^HandlerError: .+\n\s+at [^\n]*unawaited\.test\.ts/),
    })
  })

  test('and with an answer that is not awaited fails the call when it ends', async () => {
    const run: RunHandler = async (ctx) => {
      void ctx.elicit('sure', sure)
      await ctx.elicit('safe', sure)
      return 'deleted'
    }
    const served = serve(run, mode)
    const { text, asked } = await completeCall(served, { sure: decline, safe: accept() })
    expect([text, asked]).toEqual(['Tool "do" failed', [['sure', 'safe']]])
    expect(reportedError(served)).toMatchObject({ code: 'unawaited' })
  })

  test('is asked once when the handler waits for it later, and lets its suspension pass', async () => {
    const run: RunHandler = async (ctx) => {
      const answer = ctx.elicitResult('sure', sure)
      const record = ctx.step('read', later)
      try {
        await record
        return (await answer).action
      } catch (error) {
        if (isSuspension(error)) throw error
        return 'failed'
      }
    }
    const served = serve(run, mode)
    expect((await completeCall(served, { sure: accept() })).text).toBe('accept')
    expect([served.reported, served.warnings]).toEqual([[], []])
  })
})

describe.each(replayModes)('a refusal that the handler caught, with strictReplay $strictReplay,', (mode) => {
  const handled = (wait: (ctx: Context) => Promise<unknown>): RunHandler => {
    return async (ctx) => {
      try {
        await wait(ctx)
        return 'deleted'
      } catch (error) {
        if (error instanceof InputDeclined) return 'left alone'
        throw error
      }
    }
  }
  test.each<[string, RunHandler]>([
    ['of one question', handled((ctx) => ctx.elicit('sure', sure))],
    [
      'of one of several in Promise.all',
      handled((ctx) => Promise.all([ctx.elicit('sure', sure), ctx.elicit('safe', sure)])),
    ],
    [
      'of a question beside a failed step',
      async (ctx) => {
        const both = [ctx.elicit('sure', sure), ctx.step('read', () => Promise.reject(new Error('no such item')))]
        return Promise.all(both).then(
          () => 'deleted',
          (error) => (isSuspension(error) ? Promise.reject(error) : 'left alone'),
        )
      },
    ],
  ])('%s is handled, and its result counts', async (_, run) => {
    const served = serve(run, mode)
    const { text, asked } = await completeCall(served, { sure: decline })
    expect(text).toBe('left alone')
    expect(asked.length).toBeLessThanOrEqual(1)
    expect([served.reported, served.warnings]).toEqual([[], []])
  })
})
