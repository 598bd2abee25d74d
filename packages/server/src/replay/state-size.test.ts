import { randomKey } from '@x/state-codec'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { form, sealedState } from '../index.ts'
import { createManualLoad, overloadedLoad, serveWithLoad } from '../testing/load.ts'
import { accept, completeCall, type RunHandler } from '../testing/rounds.ts'

const boolean = form(z.object({ ok: z.boolean() }))
const answers = { notify: accept({ ok: true }), close: accept({ ok: false }) }
const options = {
  principal: { subject: 'ada@example.com' },
  meta: { 'io.modelcontextprotocol/session': { sessionId: '0b0ca123-4d5e-4f60-9abc-def012345678' } },
}
const settings = { state: sealedState({ keys: [randomKey()] }), name: 'https://tickets.example' }

test('a state with two booleans has at most 300 characters, and 380 with the load of a hand-off', async () => {
  const run: RunHandler = async (ctx) => {
    const notify = await ctx.elicit('notify', { message: 'Notify the author?', schema: boolean })
    const close = await ctx.elicit('close', { message: 'Close the bug?', schema: boolean })
    await ctx.step('save', () => undefined)
    return `${notify.ok} ${close.ok}`
  }
  const shedding = { policy: () => true }
  const served = serveWithLoad(createManualLoad(overloadedLoad, 100), run, { ...settings, shedding })
  const { rounds, asked, text } = await completeCall(served, answers, options)
  expect(text).toBe('true false')
  expect(asked).toEqual([['notify'], ['close'], []])
  const [, oneAnswered = 0, handedOff = 0] = rounds.map(({ state = '' }) => state.length)
  expect(oneAnswered).toBeLessThanOrEqual(300)
  expect(handedOff).toBeLessThanOrEqual(380)
})
