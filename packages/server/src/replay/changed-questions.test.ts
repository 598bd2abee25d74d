import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Context } from '../index.ts'
import {
  accept,
  createStateRecorder,
  replayModes,
  completeCall,
  type RunHandler,
  send,
  serve,
} from '../testing/rounds.ts'

const login = (at: string) => ({ message: `Your name at ${at}?`, schema: z.object({ name: z.string() }) })
const named = (name: string) => accept({ name })

/** Before the upgrade: two accounts, one after the other. */
const older: RunHandler = async (ctx) => {
  const github = await ctx.elicit('github_login', login('GitHub'))
  const google = await ctx.elicit('google_login', login('Google'))
  const done = await ctx.elicit('confirm', login('both'))
  return `old: ${github.name} ${google.name} ${done.name}`
}

/** After it: both are replaced by another. */
const newer: RunHandler = async (ctx) => {
  const microsoft = await ctx.elicit('microsoft_login', login('Microsoft'))
  const done = await ctx.elicit('confirm', login('both'))
  return `new: ${microsoft.name} ${done.name}`
}

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  const everybody = {
    github_login: named('octocat'),
    google_login: named('g'),
    microsoft_login: named('m'),
    confirm: named('yes'),
  }
  const [github, google, microsoft, confirm] = ['github_login', 'google_login', 'microsoft_login', 'confirm']
  const fleets: [string, RunHandler[], string, unknown[]][] = [
    ['a call begins before the upgrade', [older, newer, newer, newer], 'new: m yes', [github, microsoft, confirm]],
    ['both versions take turns', [older, newer], 'old: octocat g yes', [github, microsoft, google, confirm]],
    [
      'the upgrade is rolled back',
      [newer, older, older, older, older],
      'old: octocat g yes',
      [microsoft, github, google, confirm],
    ],
    [
      'the upgrade is rolled back and made again',
      [older, newer, older, newer, newer],
      'new: m yes',
      [github, microsoft, google, confirm],
    ],
  ]
  test.each(fleets)('when %s, every answer counts and nothing is asked twice', async (_, runs, end, order) => {
    const [first, ...rest] = runs.map((run) => serve(run, mode))
    if (first === undefined) throw new Error('a fleet has an instance')
    const { text, asked } = await completeCall([first, ...rest], everybody)
    expect([text, asked.flat()]).toEqual([end, order])
  })

  test('what another version asked, recorded and saved is kept for it', async () => {
    const one: RunHandler = async (ctx) => {
      const plan = await ctx.step('plan', () => 'the plan')
      const scan = ctx.checkpoint('scan', 0)
      if (scan.value === 0) await scan.save(7)
      const id = ctx.uuid('id')
      await ctx.elicit('one', login('one'))
      return JSON.stringify([plan, scan.value, id.length])
    }
    const two: RunHandler = async (ctx) => (await ctx.elicit('two', login('two'))).name
    const { codec, sealed } = createStateRecorder()
    const settings = { ...mode, state: codec }
    const [old, next] = [serve(one, settings), serve(two, settings)]
    const first = await send(old)
    const second = await send(next, { state: first.state, responses: { one: named('1') } })
    expect(Object.keys(second.requests)).toEqual(['two'])
    const [before, after] = sealed.slice(-2).map((text) => JSON.parse(text))
    expect(after).toMatchObject({
      steps: before.steps,
      checkpoints: before.checkpoints,
      uuids: before.uuids,
      flow: before.flow,
    })
    expect((await send(old, { state: second.state })).text).toBe('["the plan",7,36]')
  })

  const changes: [string, object, object][] = [
    ['message', login('GitHub'), login('GitLab')],
    ['schema', login('GitHub'), { message: login('GitHub').message, schema: z.object({ name: z.string().max(5) }) }],
  ]
  test.each(changes)('a question with another %s is asked again, under a new key', async (_, before, after) => {
    const asks = (question: object): RunHandler => {
      const form = { ...login('x'), ...question }
      return async (ctx) => (await ctx.elicit('login', form)).name
    }
    const [old, next] = [serve(asks(before), mode), serve(asks(after), mode)]
    const { state } = await send(old)
    const again = await send(next, { state, responses: { login: named('octo') } })
    expect(Object.keys(again.requests)).toEqual(['login~2'])
    expect((await send(next, { state: again.state, responses: { 'login~2': named('tanu') } })).text).toBe('tanu')
  })

  test('a question of another kind under the same key is asked again', async () => {
    const asElicit: RunHandler = async (ctx) => (await ctx.elicit('who', login('x'))).name
    const asRoots: RunHandler = async (ctx) => String((await ctx.roots('who')).length)
    const { state } = await send(serve(asElicit, mode))
    const round = await send(serve(asRoots, mode), { state, responses: { who: { roots: [] } } })
    expect(Object.entries(round.requests)).toMatchObject([['who~2', { method: 'roots/list' }]])
  })

  test('an answer to the earlier text does not answer a question whose text has changed', async () => {
    const ask =
      (question: ReturnType<typeof login>): RunHandler =>
      async (ctx) =>
        (await ctx.elicit('k', question)).name
    const [old, next] = [serve(ask(login('old')), mode), serve(ask(login('new')), mode)]
    const first = await send(old)
    const second = await send(next, { state: first.state, responses: {} })
    expect(Object.keys(second.requests)).toEqual(['k~2'])
    const third = await send(next, { state: second.state, responses: { k: named('late') } })
    expect(Object.keys(third.requests)).toEqual(['k~2'])
  })

  test('a question that is another one in every run ends the call, and says why to the author', async () => {
    let count = 0
    const run = async (ctx: Context) => (await ctx.elicit('k', login(`place ${count++}`))).name
    const served = serve(run, mode)
    const answers = Object.fromEntries(
      ['k', ...[2, 3, 4, 5, 6].map((times) => `k~${times}`)].map((key) => [key, named(key)]),
    )
    const { text, isError, asked } = await completeCall(served, answers)
    expect([text, isError]).toEqual(['Tool "do" failed', true])
    expect(asked.length).toBeLessThanOrEqual(3)
    expect(served.reported[0]?.error).toMatchObject({
      code: 'question',
      message: expect.stringMatching(/"k" differently in every run.*place/),
    })
  })
})
