import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Context } from '../index.ts'
import { accept, replayModes, completeCall, type RunHandler, send, serve } from '../testing/rounds.ts'

const text = { message: 'What?', schema: z.object({ text: z.string() }) }
const said = (value: string) => accept({ text: value })

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  test('questions in Promise.all are one round [MRT-005]', async () => {
    const run: RunHandler = async (ctx) => {
      const [a, b] = await Promise.all([ctx.elicit('a', text), ctx.elicit('b', text)])
      return a.text + b.text
    }
    const played = await completeCall(serve(run, mode), { a: said('A'), b: said('B') })
    expect([played.asked, played.text]).toEqual([[['a', 'b']], 'AB'])
  })

  test('hostile keys are keys', async () => {
    const run: RunHandler = async (ctx) => {
      const all = await Promise.all(['__proto__', 'constructor', 'n'].map((key) => ctx.elicit(key, text)))
      return all.map(({ text: value }) => value).join('')
    }
    const answers = Object.fromEntries([
      ['__proto__', said('P')],
      ['constructor', said('C')],
      ['n', said('N')],
    ])
    const played = await completeCall(serve(run, mode), answers)
    expect(played.asked).toEqual([['__proto__', 'constructor', 'n']])
    expect(played.text).toBe('PCN')
  })

  test('branches that have their answers and steps already come to their next questions in one round', async () => {
    const branch = async (ctx: Context, name: string, depth: number) => {
      const found: string[] = []
      for (let level = 1; level <= depth; level++) {
        const { text: value } = await ctx.elicit(`${name}/${level}`, text)
        found.push(value)
        if (level < depth) await ctx.step(`note/${name}/${level}`, () => value)
      }
      return found.join('')
    }
    const run: RunHandler = async (ctx) => {
      const all = await Promise.all([branch(ctx, 'a', 3), branch(ctx, 'b', 3), ctx.elicit('c', text)])
      return JSON.stringify(all)
    }
    // The last branch is answered only at the end: it asks in every round beside the others.
    const answers = Object.fromEntries(['a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'b/3'].map((key) => [key, said(key)]))
    const c = (_: unknown, round: number) => (round < 2 ? undefined : said('c'))
    const { asked, text: result } = await completeCall(serve(run, mode), { ...answers, c })
    expect(asked.map((keys) => [...keys].sort())).toEqual([1, 2, 3].map((level) => [`a/${level}`, `b/${level}`, 'c']))
    expect(result).toBe('["a/1a/2a/3","b/1b/2b/3",{"text":"c"}]')
  })

  test('a branch with many answers in the journal still asks beside one that has none', async () => {
    const many = Array.from({ length: 12 }, (_, index) => `k/${index}`)
    const run: RunHandler = async (ctx) => {
      const long = async () => {
        for (const key of many) await ctx.elicit(key, text)
        return (await ctx.elicit('end', text)).text
      }
      const [end, other] = await Promise.all([long(), ctx.elicit('other', text)])
      return end + other.text
    }
    const all = Object.fromEntries(many.map((key) => [key, said(key)]))
    const other = (_: unknown, round: number) => (round < many.length ? undefined : said('O'))
    const { asked, text: result } = await completeCall(serve(run, mode), { ...all, end: said('E'), other })
    expect(asked.map((keys) => [...keys].sort())).toEqual([...many, 'end'].map((key) => [key, 'other'].sort()))
    expect(result).toBe('EO')
  })

  test('a step that runs beside a question is recorded, and not done twice', async () => {
    let done = 0
    const run: RunHandler = async (ctx) => {
      const work = async () => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        return ++done
      }
      const [{ text: value }, count] = await Promise.all([ctx.elicit('a', text), ctx.step('work', work)])
      return `${value} ${count} ${done}`
    }
    expect((await completeCall(serve(run, mode), { a: said('A') })).text).toBe('A 1 1')
  })

  test('a step that fails beside a question is done again when its answer is there', async () => {
    let tries = 0
    const run: RunHandler = async (ctx) => {
      const work = async () => {
        tries++
        if (before) throw new Error('not yet')
        return 'worked'
      }
      const [{ text: value }, worked] = await Promise.all([ctx.elicit('a', text), ctx.step('work', work)])
      return `${value} ${worked}`
    }
    let before = true
    const served = serve(run, mode)
    const { state } = await send(served)
    before = false
    expect((await send(served, { state, responses: { a: said('A') } })).text).toBe('A worked')
    expect(tries).toBeGreaterThanOrEqual(2)
  })

  test('no more is asked by a branch that comes to its question after the suspension', async () => {
    const run: RunHandler = async (ctx) => {
      const late = async () => {
        await new Promise((resolve) => setTimeout(resolve, 30))
        return ctx.elicit('late', text)
      }
      const [a, b] = await Promise.all([ctx.elicit('soon', text), late()])
      return a.text + b.text
    }
    const played = await completeCall(serve(run, mode), { soon: said('S'), late: said('L') })
    expect([played.asked, played.text]).toEqual([[['soon'], ['late']], 'SL'])
  })

  test('an answer that declines beside a question without an answer waits for it', async () => {
    const run: RunHandler = async (ctx) =>
      JSON.stringify(await Promise.all([ctx.elicit('a', text), ctx.elicit('b', text)]))
    const served = serve(run, mode)
    const b = (_: unknown, round: number) => (round === 0 ? undefined : said('B'))
    const played = await completeCall(served, { a: { action: 'decline' }, b })
    expect(played.asked).toEqual([['a', 'b'], ['b']])
    expect([played.text, played.isError]).toEqual(['The user declined to answer the question "a"', true])
    expect(served.warnings).toEqual([])
  })
})
