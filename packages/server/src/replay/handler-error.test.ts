import { isSuspension } from '@x/exchange/internal'
import { afterEach, expect, test, describe } from 'vitest'
import { z } from 'zod'
import { suspensionFor } from './handler-error.ts'
import { type Context, inputRequired } from '../index.ts'
import { accept, replayModes, completeCall, type RunHandler, send, serve } from '../testing/rounds.ts'

const { stackTraceLimit } = Error
afterEach(() => {
  Error.stackTraceLimit = stackTraceLimit
})

test('a suspension takes no stack, and leaves those of other errors as they are', () => {
  Error.stackTraceLimit = 3
  const suspension = suspensionFor(['colour'])
  expect(suspension.stack).toBe('Suspension: The call waits for "colour"; let this error pass')
  expect(new Error('other').stack?.split('\n')).toHaveLength(4)
})

test.each([
  ['itself', suspensionFor([]), true],
  ['as the cause of another error', new Error('failed', { cause: suspensionFor(['a']) }), true],
  ['in another error', new Error('failed'), false],
  ['in no error', 'Suspension', false],
])('a suspension is found %s', (_title, error, found) => {
  expect(isSuspension(error)).toBe(found)
})

const text = { message: 'What?', schema: z.object({}) }
const uses: [string, (ctx: Context, key: string) => unknown][] = [
  ['elicit', (ctx, key) => ctx.elicit(key, text)],
  ['ask', (ctx, key) => ctx.elicitResult(key, text)],
  ['elicitUrl', (ctx, key) => ctx.elicitUrl(key, { message: 'm', url: 'https://example.com' })],
  ['sample', (ctx, key) => ctx.sample(key, { messages: [], maxTokens: 1 })],
  ['roots', (ctx, key) => ctx.roots(key)],
  ['step', (ctx, key) => ctx.step(key, () => 1)],
  ['checkpoint', (ctx, key) => ctx.checkpoint(key, 0)],
  ['uuid', (ctx, key) => ctx.uuid(key)],
]
const refused: [string, string][] = [
  ['empty', ''],
  ['129 characters long', 'k'.repeat(129)],
  ['with a space', 'a b'],
  ['with the mark of a second time', 'a~2'],
  ['with an accent', 'é'],
  ['with a line break at its end', 'a\n'],
  ['a megabyte long', 'x'.repeat(1_000_000)],
]

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  describe.each(uses)('a key given to ctx.%s', (called, use) => {
    test.each(refused)('is refused when it is %s, also when the handler swallows that', async (_, key) => {
      const run: RunHandler = async (ctx) => {
        try {
          await use(ctx, key)
        } catch {
          return 'swallowed'
        }
        return 'done'
      }
      const served = serve(run, mode)
      expect((await send(served)).text).toBe('Tool "do" failed')
      const error = served.reported[0]?.error
      expect(error).toMatchObject({ name: 'HandlerError', code: 'key', message: expect.stringContaining('1 to 128') })
      expect(String(error).length).toBeLessThan(500)
      if (called === 'step') expect(String(error)).toContain('ctx.step')
    })

    test.each(['a', 'A-z_0.9:/', 'k'.repeat(128), '__proto__', 'constructor', 'toString', '0'])(
      'may be %s',
      async (key) => {
        const run: RunHandler = async (ctx) => {
          await use(ctx, key)
          return 'done'
        }
        const served = serve(run, mode)
        const round = await send(served)
        const asks = !['step', 'checkpoint', 'uuid'].includes(called)
        expect([Object.keys(round.requests), round.text]).toEqual(asks ? [[key], undefined] : [[], 'done'])
        expect(served.reported).toEqual([])
      },
    )

    if (called === 'uuid') return
    test('fails the call when it comes twice in one run, also when the handler swallows that', async () => {
      const run: RunHandler = async (ctx) => {
        const twice = [use(ctx, 'same')]
        try {
          twice.push(use(ctx, 'same'))
        } catch {
          // What a handler swallows must not help it.
        }
        await Promise.allSettled(twice)
        return 'done'
      }
      const served = serve(run, mode)
      expect((await send(served)).text).toBe('Tool "do" failed')
      expect(served.reported[0]?.error).toMatchObject({
        code: 'duplicate',
        message: expect.stringContaining('"same/17"'),
      })
    })
  })

  test('a key that is not a string is refused and shown', async () => {
    const run: RunHandler = async (ctx) => {
      await Reflect.apply(ctx.step, undefined, [17, () => 1])
      return 'done'
    }
    const served = serve(run, mode)
    await send(served)
    expect(served.reported[0]?.error).toMatchObject({ code: 'key', message: expect.stringContaining('key 17') })
  })

  test('the kinds of a tool have keys of their own: one key may stand in each', async () => {
    const run: RunHandler = async (ctx) => {
      const id = ctx.uuid('k')
      const checkpoint = ctx.checkpoint('k', 0)
      await checkpoint.save(1)
      const done = await ctx.step('k', () => 'stepped')
      await ctx.elicit('k', text)
      return `${id.length} ${checkpoint.value} ${done}`
    }
    expect((await completeCall(serve(run, mode), { k: accept() })).text).toBe('36 1 stepped')
  })

  test('questions of all kinds share their keys, because all are asked by key', async () => {
    const run: RunHandler = async (ctx) => {
      await Promise.all([ctx.elicit('k', text), ctx.roots('k')])
      return 'done'
    }
    const served = serve(run, mode)
    expect((await send(served)).text).toBe('Tool "do" failed')
    expect(served.reported[0]?.error).toMatchObject({ code: 'duplicate' })
  })

  test('hostile keys keep their answers, results and progress over rounds', async () => {
    const hostile = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
    const run: RunHandler = async (ctx) => {
      const found: unknown[] = []
      for (const key of hostile) {
        const step = await ctx.step(key, () => Object.fromEntries([['__proto__', key]]))
        const checkpoint = ctx.checkpoint(key, '')
        if (checkpoint.value === '') await checkpoint.save(key)
        const { action } = await ctx.elicitResult(key, text)
        found.push(Object.entries(step), checkpoint.value, action, ctx.uuid(key) === ctx.uuid(key))
      }
      return JSON.stringify(found)
    }
    const answers = Object.fromEntries(hostile.map((key) => [key, accept()]))
    const { asked, text: result } = await completeCall(serve(run, mode), answers)
    expect(asked).toEqual(hostile.map((key) => [key]))
    expect(result).toBe(JSON.stringify(hostile.flatMap((key) => [[['__proto__', key]], key, 'accept', true])))
    expect(Object.prototype).toEqual({})
  })

  test.each<[string, (ctx: Context) => () => unknown]>([
    ['a UUID that exists already', (ctx) => (ctx.uuid('k'), () => ctx.uuid('k'))],
    [
      'the save of a checkpoint',
      (ctx) => {
        const checkpoint = ctx.checkpoint('k', 0)
        return () => checkpoint.save(1)
      },
    ],
  ])('%s is refused inside a step', async (_, prepare) => {
    const run: RunHandler = async (ctx) => {
      const use = prepare(ctx)
      await ctx.step('s', async () => void (await use()))
      return 'done'
    }
    const served = serve(run, mode)
    expect((await send(served)).text).toBe('Tool "do" failed')
    expect(served.reported[0]?.error).toMatchObject({ name: 'HandlerError', code: 'nested' })
  })

  test('a UUID that exists already is refused after the call has ended', async () => {
    let context: Context | undefined
    const run: RunHandler = (ctx) => {
      context = ctx
      ctx.uuid('k')
      return 'done'
    }
    await send(serve(run, mode))
    expect(() => context?.uuid('k')).toThrow('after the call had ended')
  })

  test('a key of the explicit form is held to the same rule', async () => {
    const requests = { 'not a key': { method: 'roots/list' } } as const
    const served = serve(() => inputRequired({ requests }), mode)
    expect((await send(served)).text).toBe('Tool "do" failed')
    expect(served.reported[0]?.error).toMatchObject({ code: 'key', message: expect.stringContaining('inputRequired') })
  })
})
