import { plainState, randomKey, sealedState, signedState } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { inspectState } from '../inspect.ts'
import { accept, replayModes, type RunHandler, send, serve } from '../testing/rounds.ts'

const keys = [randomKey(), randomKey()]
const text = { message: 'What?', schema: z.object({ text: z.string() }) }
const run: RunHandler = async (ctx) => {
  const pages = ctx.checkpoint('pages', { next: 0 })
  await ctx.step('plan', () => ({ days: 3 }))
  await ctx.step('lock', () => undefined)
  await pages.save({ next: 2 })
  await ctx.elicit('a', text)
  return (await ctx.elicit('b', text)).text
}

/** Returns the state of a call whose client has answered the first question. */
async function stateOfSecondRound(served: ReturnType<typeof serve>): Promise<string> {
  const { state } = await send(served)
  const second = await send(served, { state, responses: { a: accept({ text: 'yes' }) } })
  return second.state ?? ''
}

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  test.each([
    ['sealed', sealedState],
    ['signed', signedState],
  ])('a %s state shows its questions, steps and checkpoints to an operator with the keys', async (_, codec) => {
    const token = await stateOfSecondRound(serve(run, { ...mode, name: 'shop', state: codec({ keys }) }))
    const report = await inspectState(token, { keys })
    expect(report).toMatchObject({
      keyId: expect.stringMatching(/^[\w-]{8}$/),
      callId: expect.any(String),
      round: 2,
      handOffCount: 0,
      questions: [{ key: 'a', answer: { action: 'accept', content: { text: 'yes' } } }, { key: 'b' }],
      steps: { plan: { days: 3 }, lock: null },
      checkpoints: { pages: { next: 2 } },
    })
    expect(report.expiresAt - report.sealedAt).toBe(3_600_000)
    expect(report.startedAt).toBeLessThanOrEqual(report.sealedAt)
  })
})

test('an expired state can be inspected, by the second key too', async () => {
  const past = { now: () => 1_000_000 }
  const { state = '' } = await send(serve(run, { state: sealedState({ keys: keys.slice(1), runtime: past }) }))
  expect(await inspectState(state, { keys })).toMatchObject({ sealedAt: 1_000_000, round: 1, steps: { lock: null } })
})

describe('nothing is shown of [OPS-012]', () => {
  const flip = (token: string, at: number): string =>
    `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`

  test('a state in which any segment was altered', async () => {
    for (const codec of [sealedState, signedState]) {
      const token = await stateOfSecondRound(serve(run, { state: codec({ keys }) }))
      // The tenth character of each segment that has content.
      const places = [...token.matchAll(/[^.]{12,}/g)].map(({ index }) => index + 10)
      expect(places.length).toBeGreaterThan(2)
      for (const place of places) {
        await expect(inspectState(flip(token, place), { keys })).rejects.toMatchObject({ name: 'StateError' })
      }
    }
  })

  test('a state of another key', async () => {
    const token = await stateOfSecondRound(serve(run, { state: sealedState({ keys: [randomKey()] }) }))
    await expect(inspectState(token, { keys })).rejects.toMatchObject({ code: 'unknown_key' })
  })

  test('a token of another purpose', async () => {
    const token = await sealedState({ keys }).seal({ v: 1 }, { purpose: 'session' })
    await expect(inspectState(token, { keys })).rejects.toMatchObject({ code: 'forged' })
  })

  test('a token of this purpose that holds no journal', async () => {
    const token = await signedState({ keys }).seal({ v: 99 }, { purpose: 'requestState' })
    await expect(inspectState(token, { keys })).rejects.toMatchObject({ code: 'malformed' })
  })

  test('a state without protection, and a text that is not a state', async () => {
    const token = await stateOfSecondRound(serve(run, { state: plainState({ insecure: true }) }))
    for (const other of [token, '', 'hello', 'a.b.c', 'x'.repeat(40_000)])
      await expect(inspectState(other, { keys })).rejects.toMatchObject({ name: 'StateError' })
  })
})
