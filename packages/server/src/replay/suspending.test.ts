import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { type Context, HandlerError, isSuspension, ToolError } from '../index.ts'
import { accept, replayModes, completeCall, type RunHandler, send, serve } from '../testing/rounds.ts'

const name = { message: 'Who are you?', schema: z.object({ name: z.string() }) }
const ada = { name: accept({ name: 'Ada' }) }
const greet = async (ctx: Context) => `Hello, ${(await ctx.elicit('name', name)).name}`

/** Collects rejections that nobody handles while the work runs, which would end a server's process. */
async function unhandledDuring(work: () => Promise<unknown>): Promise<unknown[]> {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', note)
  try {
    await work()
    // Two turns of the event loop: Node tells of a rejection after the microtasks of the turn in which it happened.
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setTimeout(resolve, 5))
  } finally {
    process.off('unhandledRejection', note)
    for (const listener of others) process.on('unhandledRejection', listener)
  }
  return unhandled
}

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  describe('a tool', () => {
    test('asks with its own key and a state, and ends when it is answered [MRT-001 MRT-005 MRT-006 MRT-014]', async () => {
      const { rounds, text } = await completeCall(serve(greet, mode), ada)
      expect(rounds).toHaveLength(1)
      expect(rounds[0]?.requests).toEqual({
        name: {
          method: 'elicitation/create',
          params: {
            mode: 'form',
            message: 'Who are you?',
            requestedSchema: expect.objectContaining({ type: 'object', required: ['name'] }),
          },
        },
      })
      expect(rounds[0]?.state).toMatch(/^[\w.-]+$/)
      expect(text).toBe('Hello, Ada')
    })

    const other = (options?: ErrorOptions) => Promise.reject(new Error('other', options))
    const ways: [string, (ctx: Context) => Promise<string>][] = [
      ['lets the suspension pass', greet],
      ['throws another error in its place', (ctx) => greet(ctx).catch(() => other())],
      ['wraps the suspension', (ctx) => greet(ctx).catch((cause) => other({ cause }))],
      [
        'fails while it cleans up',
        (ctx) => greet(ctx).finally(() => (ctx.signal.aborted ? Promise.reject(new Error('cleaning up')) : undefined)),
      ],
    ]
    test.each(ways)('that %s asks all the same [MRT-014]', async (_, run) => {
      const { asked, text } = await completeCall(serve(run, mode), ada)
      expect([asked, text]).toEqual([[['name']], 'Hello, Ada'])
    })

    test('that throws without waiting for its question asks: the question takes precedence over the error', async () => {
      const run: RunHandler = (ctx) => {
        void ctx.elicit('name', name)
        throw new Error('no')
      }
      const round = await send(serve(run, mode))
      expect(Object.keys(round.requests)).toEqual(['name'])
    })
  })

  test('a suspension is recognized among errors, also as their cause', async () => {
    const seen: boolean[] = []
    const run: RunHandler = async (ctx) => {
      try {
        return await greet(ctx)
      } catch (error) {
        seen.push(
          isSuspension(error),
          isSuspension(new Error('outer', { cause: error })),
          isSuspension(new Error('no')),
        )
        throw error
      }
    }
    await send(serve(run, mode))
    expect(seen.slice(0, 3)).toEqual([true, true, false])
  })

  test('finally and using run before the reply', async () => {
    const closed: string[] = []
    const run: RunHandler = async (ctx) => {
      await using lock = { [Symbol.asyncDispose]: async () => void closed.push('lock') }
      try {
        return await greet(ctx)
      } finally {
        closed.push(lock === undefined ? '' : 'finally')
      }
    }
    const served = serve(run, { ...mode })
    const round = await send(served)
    expect(closed.slice(0, 2)).toEqual(['finally', 'lock'])
    await send(served, { state: round.state, responses: ada })
    expect(closed.slice(-2)).toEqual(['finally', 'lock'])
  })

  test('a suspension in whose place another error is thrown is warned of once, with the catch and the error', async () => {
    const served = serve((ctx) => greet(ctx).catch(() => Promise.reject(new Error('other'))), mode)
    await completeCall(served, ada)
    await completeCall(served, ada)
    const where = { method: 'tools/call', name: 'do', key: 'name' }
    const caught = 'caught the suspension of ctx.elicit("name") and threw Error "other" instead'
    const advice = 'throw an error again for which isSuspension(error) is true'
    const message = `tools/call "do" asked "name" and then ${caught}: ${advice}`
    expect(served.warnings).toEqual([{ level: 'warn', code: 'swallowed', ...where, message }])
  })

  test('a suspension that a handler throws, or has as a cause, is not logged', async () => {
    const wrap = (ctx: Context) => greet(ctx).catch((cause) => Promise.reject(new Error('other', { cause })))
    for (const run of [greet, wrap]) {
      const served = serve(run, mode)
      await completeCall(served, ada)
      expect([served.warnings, served.reported]).toEqual([[], []])
    }
  })

  test('a call whose branch fails beside a question ends with the failure of the branch', async () => {
    const run: RunHandler = async (ctx) => {
      const fails = async () => Promise.reject(new ToolError('no such item'))
      await Promise.all([greet(ctx), fails()])
      return 'never'
    }
    const served = serve(run, mode)
    const { text, isError } = await completeCall(served, ada)
    expect([text, isError, served.warnings]).toEqual(['no such item', true, []])
  })

  test('after a suspension every further function of the context suspends too, and ctx.signal is aborted', async () => {
    const seen: unknown[] = []
    const run: RunHandler = async (ctx) => {
      const { signal } = ctx
      try {
        return await greet(ctx)
      } catch (error) {
        const tries = [
          () => ctx.elicit('b', name),
          () => ctx.elicitResult('c', name),
          () => ctx.elicitUrl('e', { message: 'm', url: 'https://example.com' }),
          () => ctx.sample('f', { messages: [], maxTokens: 1 }),
          () => ctx.roots('g'),
          () => ctx.step('h', () => void seen.push('the step ran')),
          async () => ctx.checkpoint('i', 0),
          async () => ctx.uuid('j'),
        ]
        for (const attempt of tries) await attempt().catch((late) => seen.push(isSuspension(late)))
        seen.push(signal.aborted, isSuspension(signal.reason))
        throw error
      }
    }
    const round = await send(serve(run, mode))
    expect(Object.keys(round.requests)).toEqual(['name'])
    expect(new Set(seen)).toEqual(new Set([true]))
    expect(seen.length).toBeGreaterThanOrEqual(10)
  })

  test('a branch that outlives the reply cannot record, ask or take its suspension for a failure', async () => {
    const seen: unknown[] = []
    let release: () => void = () => {}
    const replied = new Promise<void>((resolve) => {
      release = resolve
    })
    const zombies: Promise<void>[] = []
    const zombie = async (ctx: Context) => {
      await replied
      seen.push(ctx.signal.aborted)
      await ctx.step('late', () => void seen.push('the step ran')).catch((error) => seen.push(isSuspension(error)))
    }
    const run: RunHandler = async (ctx) => {
      const going = zombie(ctx)
      zombies.push(going)
      await Promise.all([greet(ctx), going])
      return 'never'
    }
    await send(serve(run, mode))
    release()
    await Promise.all(zombies)
    expect(new Set(seen)).toEqual(new Set([true]))
  })

  test('using the context after the end of the call is a HandlerError that says so', async () => {
    const kept: Context[] = []
    const served = serve(async (ctx) => {
      kept.push(ctx)
      return 'done'
    }, mode)
    expect((await send(served)).text).toBe('done')
    const [ctx] = kept
    const late = [
      ctx?.elicit('a', name),
      ctx?.step('c', () => 1),
      ctx?.sample('d', { messages: [], maxTokens: 1 }),
      ctx?.roots('e'),
    ]
    for (const promise of late) {
      await expect(promise).rejects.toMatchObject({ name: 'HandlerError', code: 'ended' })
    }
    expect(() => ctx?.checkpoint('f', 0)).toThrow(HandlerError)
    expect(() => ctx?.uuid('g')).toThrow(HandlerError)
  })

  test('a step or an answer that no code awaits does not end the process [MRT-016]', async () => {
    let finish: (value: number) => void = () => {}
    const slow = new Promise<number>((resolve) => {
      finish = resolve
    })
    const runs: RunHandler[] = [
      (ctx) => {
        void ctx.elicit('name', name)
        throw new Error('at once')
      },
      (ctx) => {
        void ctx.elicit('name', name)
        void ctx.elicitResult('b', name)
        void ctx.elicitUrl('e', { message: 'm', url: 'https://example.com' })
        void ctx.sample('f', { messages: [], maxTokens: 1 })
        void ctx.roots('g')
        return 'done'
      },
      (ctx) => {
        void ctx.step('slow', () => slow)
        setImmediate(finish, 1)
        return 'done'
      },
      async (ctx) => {
        void ctx.step('fails', () => Promise.reject(new Error('no')))
        void ctx.step('bad key!', () => 1)
        return 'done'
      },
      (ctx) => {
        void ctx.checkpoint('count', 0).save(1)
        return greet(ctx)
      },
    ]
    const unhandled = await unhandledDuring(async () => {
      for (const run of runs) {
        const served = serve(run, mode)
        const round = await send(served)
        if (round.state !== undefined) await send(served, { state: round.state, responses: ada })
      }
    })
    expect(unhandled).toEqual([])
  })

  test('a client that never returns leaves no listener at the signal of the caller [MRT-016]', async () => {
    const controller = new AbortController()
    const add = vi.spyOn(controller.signal, 'addEventListener')
    const kept: AbortSignal[] = []
    const run: RunHandler = async (ctx) => {
      kept.push(ctx.signal)
      return greet(ctx)
    }
    const served = serve(run, mode)
    for (let call = 0; call < 5; call++) await send(served, {}, { signal: controller.signal })
    expect(add.mock.calls.length).toBeLessThanOrEqual(1)
    controller.abort('much later')
    expect(kept.every(({ reason }) => isSuspension(reason))).toBe(true)
  })

  test("a call suspends though a test's timers stand still", async () => {
    vi.useFakeTimers()
    try {
      expect((await completeCall(serve(greet, mode), ada)).text).toBe('Hello, Ada')
    } finally {
      vi.useRealTimers()
    }
  })

  test('ctx.signal follows the call while nothing is asked', async () => {
    const controller = new AbortController()
    const seen: unknown[] = []
    const run: RunHandler = async (ctx) => {
      const { signal } = ctx
      controller.abort('enough')
      seen.push(signal.reason)
      throw signal.reason
    }
    await expect(send(serve(run, mode), {}, { signal: controller.signal })).rejects.toBe('enough')
    expect(seen[0]).toBe('enough')
  })

  const nested: [string, (ctx: Context) => unknown][] = [
    ['elicit', (ctx) => ctx.elicit('inner', name)],
    ['step', (ctx) => ctx.step('inner', () => 1)],
    ['sample', (ctx) => ctx.sample('inner', { messages: [], maxTokens: 1 })],
    ['checkpoint', (ctx) => ctx.checkpoint('inner', 0)],
    ['uuid', (ctx) => ctx.uuid('inner')],
  ]
  test.each(nested)('ctx.%s inside a step fails the call, also when it is swallowed', async (called, use) => {
    const run: RunHandler = async (ctx) => {
      await ctx.step('outer', async () => {
        try {
          await use(ctx)
        } catch {
          return 'swallowed'
        }
        return 'fine'
      })
      return 'done'
    }
    const served = serve(run, mode)
    const { text, isError } = await send(served)
    expect([text, isError]).toEqual(['Tool "do" failed', true])
    expect(served.reported[0]?.error).toMatchObject({ code: 'nested', message: expect.stringContaining(called) })
  })
})
