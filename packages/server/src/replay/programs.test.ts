import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Context } from '../index.ts'
import { accept, type Answer, replayModes, completeCall, type RunHandler, serve } from '../testing/rounds.ts'

/** What a handler may be made of; keys are given by place, so that no two are the same. */
type Program =
  | { readonly kind: 'ask' | 'decline' | 'misfit' | 'step' | 'failingStep' | 'uuid' }
  | { readonly kind: 'loop'; readonly times: number; readonly asks: boolean }
  | { readonly kind: 'all' | 'row'; readonly parts: readonly Program[] }

const { program } = fc.letrec<{ program: Program }>((tie) => ({
  program: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ kind: fc.constantFrom('ask', 'step', 'decline', 'misfit', 'failingStep', 'uuid') }),
    fc.record({ kind: fc.constant('loop'), times: fc.integer({ min: 0, max: 3 }), asks: fc.boolean() }),
    fc.record({ kind: fc.constantFrom('all', 'row'), parts: fc.array(tie('program'), { maxLength: 3 }) }),
  ),
}))

const number = { message: 'Which?', schema: z.object({ n: z.number() }) }

/** Runs a program with the context, and writes down what it gets. */
async function interpret(part: Program, at: string, ctx: Context, ran: Map<string, number>): Promise<unknown> {
  const work = (key: string) => {
    ran.set(key, (ran.get(key) ?? 0) + 1)
    return `worked ${key}`
  }
  switch (part.kind) {
    case 'ask':
    case 'misfit':
      return (await ctx.elicit(at, number)).n
    case 'decline':
      return (await ctx.elicitResult(at, number)).action
    case 'step':
      return ctx.step(at, async () => work(at))
    case 'failingStep':
      return ctx
        .step(at, () => Promise.reject(new Error('no')))
        .catch((error: Error) => {
          if (error.message !== 'no') throw error
          return 'failed'
        })
    case 'uuid':
      return ctx.uuid(at) === ctx.uuid(at)
    case 'loop':
      return goThrough(part, at, ctx, work)
    case 'row': {
      const results: unknown[] = []
      for (const [index, inner] of part.parts.entries()) {
        results.push(await interpret(inner, `${at}/${index}`, ctx, ran))
      }
      return results
    }
    default:
      return Promise.all(part.parts.map((inner, index) => interpret(inner, `${at}/${index}`, ctx, ran)))
  }
}

async function goThrough(
  { times, asks }: { readonly times: number; readonly asks: boolean },
  at: string,
  ctx: Context,
  work: (key: string) => string,
): Promise<number> {
  const loop = ctx.checkpoint(at, 0)
  while (loop.value < times) {
    const key = `${at}.${loop.value}`
    await ctx.step(key, () => work(key))
    if (asks) await ctx.elicit(key, number)
    await loop.save(loop.value + 1)
  }
  return loop.value
}

/** What a program comes to when nothing ever suspends, and the questions and steps that it has. */
function expected(part: Program, at: string): { result: unknown; steps: string[]; answers: [string, Answer][] } {
  const given = (result: unknown, ...answers: [string, Answer][]) => ({ result, steps: [], answers })
  switch (part.kind) {
    case 'ask':
      return given(at.length, [at, accept({ n: at.length })])
    case 'misfit':
      return given(at.length, [at, accept({ n: 'no' })], [`${at}~2`, accept({ n: at.length })])
    case 'decline':
      return given('decline', [at, { action: 'decline' }])
    case 'step':
      return { ...given(`worked ${at}`), steps: [at] }
    case 'failingStep':
      return given('failed')
    case 'uuid':
      return given(true)
    case 'loop': {
      const keys = Array.from({ length: part.times }, (_, index) => `${at}.${index}`)
      const answers = part.asks ? keys.map((key): [string, Answer] => [key, accept({ n: 0 })]) : []
      return { result: part.times, steps: keys, answers }
    }
    default: {
      const inner = part.parts.map((one, index) => expected(one, `${at}/${index}`))
      return {
        result: inner.map(({ result }) => result),
        steps: inner.flatMap(({ steps }) => steps),
        answers: inner.flatMap(({ answers }) => answers),
      }
    }
  }
}

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  test('a program that suspends at every question ends as one that never does, and each step runs once', async () => {
    await fc.assert(
      fc.asyncProperty(program, fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }), async (root, pattern) => {
        const { result, steps, answers } = expected(root, 'p')
        fc.pre(answers.length <= 12)
        const ran = new Map<string, number>()
        const run: RunHandler = async (ctx) => JSON.stringify(await interpret(root, 'p', ctx, ran))
        // Some rounds leave answers out; every third gives them all, so that each call comes to its end.
        let asked = 0
        const patient = answers.map(([key, answer]): [string, Answer] => {
          const some: Answer = (request, round) => {
            const gives = round % 3 === 2 || pattern[asked++ % pattern.length] === true
            return gives ? (typeof answer === 'function' ? answer(request, round) : answer) : undefined
          }
          return [key, some]
        })
        const served = serve(run, mode)
        const slow = await completeCall([served, serve(run, mode)], Object.fromEntries(patient))
        expect(slow.text).toBe(JSON.stringify(result))
        expect([...ran.keys()].sort()).toEqual([...steps].sort())
        expect([...ran.values()].every((times) => times === 1)).toBe(true)
        expect(served.warnings.filter(({ code }) => code !== 'rounds')).toEqual([])
        expect(new Set(slow.asked.flat())).toEqual(new Set(answers.map(([key]) => key)))
        ran.clear()
        const quick = await completeCall(served, Object.fromEntries(answers))
        expect([quick.text, [...ran.keys()].sort()]).toEqual([slow.text, [...steps].sort()])
      }),
      { numRuns: 120 },
    )
  })
})
