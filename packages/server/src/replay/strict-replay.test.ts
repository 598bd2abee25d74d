import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { compileTrustedJsonSchema } from '@x/schema/json-schema'
import { createServer, type LogRecord, tool } from '../index.ts'
import { callTool } from '../testing/ask.ts'
import {
  accept,
  createStateRecorder,
  replayModes,
  completeCall,
  type RunHandler,
  send,
  serve,
} from '../testing/rounds.ts'

const text = { message: 'What?', schema: z.object({}) }
const strict = { strictReplay: true }

describe('strict replay', () => {
  let count = 0
  const unlike = () => `${count++}`
  const faults: [string, RunHandler, string, RegExp][] = [
    [
      'a message with a time in it',
      async (ctx) => {
        await ctx.elicit('when', { ...text, message: `It is ${unlike()}` })
        return 'done'
      },
      'when',
      /wrote its question "when" differently/,
    ],
    [
      'a URL that is made anew',
      async (ctx) => {
        await ctx.elicitUrl('go', { message: 'Go', url: `https://example.com/${unlike()}` })
        return 'done'
      },
      'go',
      /wrote its question "go" differently/,
    ],
    [
      'a branch on the time',
      async (ctx) => {
        await ctx.step('first', () => 1)
        if (count++ % 2 === 0) await ctx.step('even', () => 1)
        else await ctx.step('odd', () => 1)
        await ctx.step('last', () => 1)
        return 'done'
      },
      'even',
      /did not reach its step "(even|odd)"/,
    ],
    [
      'a question that is asked now and then',
      async (ctx) => {
        if (count++ % 2 === 0) await ctx.elicit('now', text)
        return 'done'
      },
      'now',
      /did not reach its question "now"/,
    ],
    [
      'a checkpoint under another name',
      async (ctx) => {
        await ctx.checkpoint(`at/${count++ % 2}`, 0).save(1)
        await ctx.step('x', () => 1)
        return 'done'
      },
      'at/0',
      /did not reach its checkpoint "at\/0"/,
    ],
  ]
  describe('of a tool', () => {
    test.each(faults)('logs %s, by name and key', async (_, run, key, told) => {
      count = 0
      const served = serve(run, strict)
      await send(served)
      expect(served.warnings[0]).toMatchObject({
        code: 'not_repeatable',
        message: expect.stringMatching(told),
        method: 'tools/call',
        name: 'do',
      })
      expect(served.warnings[0]?.message).toContain(JSON.stringify(key))
    })

    test.each(faults)('is off in production, where %s is not logged at once', async (_, run) => {
      count = 0
      const served = serve(run, { strictReplay: false })
      await send(served)
      expect(served.warnings).toEqual([])
    })
  })

  test('logs a random key, and does not loop', async () => {
    let runs = 0
    const run: RunHandler = async (ctx) => {
      runs++
      await ctx.step(`k/${unlike()}`, () => 1)
      return 'done'
    }
    const served = serve(run, strict)
    expect((await send(served)).text).toBe('done')
    expect(served.warnings[0]).toMatchObject({ code: 'not_repeatable', message: expect.stringMatching(/"k\/\d+"/) })
    expect(runs).toBeLessThanOrEqual(4)
  })

  test('logs each fault once for any number of calls', async () => {
    const run: RunHandler = async (ctx) => {
      await ctx.elicit('when', { ...text, message: unlike() })
      return 'done'
    }
    const served = serve(run, strict)
    for (let call = 0; call < 5; call++) await send(served)
    expect(served.warnings).toHaveLength(1)
  })

  test('logs arguments that a handler changes, because the retry would not fit them', async () => {
    const warnings: LogRecord[] = []
    const schema = { type: 'object', properties: { list: { type: 'array' } } } as const
    const change = tool('change', {
      description: 'd',
      input: schema,
      run: (args: unknown) => {
        if (typeof args === 'object' && args !== null && 'list' in args && Array.isArray(args.list)) args.list.push(1)
        return 'done'
      },
    })
    const log = (record: LogRecord) => void warnings.push(record)
    const server = createServer({
      name: 'demo',
      version: '1',
      compileSchema: compileTrustedJsonSchema,
      tools: [change],
      log,
    })
    await callTool(server, 'change', { list: [] })
    expect(warnings).toMatchObject([
      { code: 'not_repeatable', message: expect.stringContaining('changes its arguments') },
    ])
  })

  test('runs from the top at every step, checkpoint and question, and what it records stays', async () => {
    let runs = 0
    const steps: string[] = []
    const run: RunHandler = async (ctx) => {
      runs++
      await ctx.step('a', () => void steps.push('a'))
      await Promise.all([ctx.step('b', () => void steps.push('b')), ctx.step('c', () => void steps.push('c'))])
      const loop = ctx.checkpoint('loop', 0)
      while (loop.value < 3) await loop.save(loop.value + 1)
      await ctx.elicit('q', text)
      return String(loop.value)
    }
    const served = serve(run, strict)
    expect((await completeCall(served, { q: accept() })).text).toBe('3')
    expect(steps).toEqual(['a', 'b', 'c'])
    expect(runs).toBeGreaterThanOrEqual(7)
    expect(served.warnings).toEqual([])
  })

  const correct: [string, RunHandler][] = [
    ['that does nothing', () => 'done'],
    ['that throws', () => Promise.reject(new Error('no'))],
    [
      'whose times and ids are those of the context',
      async (ctx) => {
        await ctx.step(`at/${ctx.uuid('id')}`, () => 1)
        await ctx.elicit('q', { ...text, message: `At ${ctx.now()}, ${ctx.uuid('id')}` })
        return 'done'
      },
    ],
    [
      'whose branches run side by side',
      async (ctx) => {
        const branch = async (name: string) => {
          await ctx.step(`one/${name}`, async () => name)
          await ctx.step(`two/${name}`, () => name)
        }
        await Promise.all(['a', 'b', 'c'].map(branch))
        await Promise.all([ctx.elicit('q', text), ctx.elicit('r', text)])
        return 'done'
      },
    ],
    [
      'that catches a step that fails',
      async (ctx) => {
        await ctx.step('fails', () => Promise.reject(new Error('no'))).catch(() => {})
        await ctx.elicit('q', text)
        return 'done'
      },
    ],
    [
      'whose loop works and asks between the saves of its checkpoint',
      async (ctx) => {
        const loop = ctx.checkpoint('loop', 0)
        while (loop.value < 3) {
          await ctx.step(`work/${loop.value}`, () => 1)
          if (loop.value === 1) await ctx.elicit('q', text)
          await loop.save(loop.value + 1)
        }
        return 'done'
      },
    ],
    [
      'whose user declines',
      async (ctx) => {
        const { action } = await ctx.elicitResult('no', text)
        if (action === 'decline') await ctx.step('declined', () => 1)
        return 'done'
      },
    ],
  ]
  test.each(correct)('says nothing of a handler %s', async (_, run) => {
    const served = serve(run, strict)
    await completeCall(served, { q: accept(), r: accept(), no: { action: 'decline' } })
    expect(served.warnings).toEqual([])
  })

  test('is on under a test runner unless it is switched off', async () => {
    let runs = 0
    const run: RunHandler = async (ctx) => {
      runs++
      await ctx.step('a', () => 1)
      return 'done'
    }
    await send(serve(run))
    await send(serve(run, { strictReplay: false }))
    expect(runs).toBe(3)
  })
})

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  test('a call that asks in eight rounds is logged once, because clients stop at ten', async () => {
    const keys = Array.from({ length: 10 }, (_, index) => `q/${index}`)
    const run: RunHandler = async (ctx) => {
      for (const key of keys) await ctx.elicit(key, text)
      return 'done'
    }
    const answers = Object.fromEntries(keys.map((key) => [key, accept()]))
    const served = serve(run, mode)
    expect((await completeCall(served, answers)).rounds).toHaveLength(10)
    await completeCall(served, answers)
    expect(served.warnings).toMatchObject([
      { code: 'rounds', method: 'tools/call', name: 'do', message: expect.stringContaining('8 times') },
    ])
    const short: RunHandler = async (ctx) => {
      for (const key of keys.slice(0, 7)) await ctx.elicit(key, text)
      return 'done'
    }
    const quiet = serve(short, mode)
    await completeCall(quiet, answers)
    expect(quiet.warnings).toEqual([])
  })

  test('a tool that asks nothing costs no id, no seal and no listener', async () => {
    const ids: string[] = []
    const { codec, sealed, opened } = createStateRecorder()
    const randomUuid = () => `id-${ids.push('made')}`
    const times: number[] = []
    const wallClock = () => times.push(1)
    const served = serve(async () => 'done', { ...mode, state: codec, runtime: { randomUuid, now: wallClock } })
    const untouched: unknown[] = []
    const signal = new Proxy(new AbortController().signal, {
      get(target, name) {
        if (name !== 'aborted') untouched.push(name)
        return Reflect.get(target, name, target)
      },
    })
    expect((await send(served, {}, { signal })).text).toBe('done')
    expect([ids, times, sealed, opened, untouched]).toEqual([[], [], [], [], []])
  })
})
