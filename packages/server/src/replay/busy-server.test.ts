import { projectMetaKeys } from '@x/schema'
import { memoryStore, singleUseState } from '@x/state-codec'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { sealedState } from '../index.ts'
import { accept, send, serve } from '../testing/rounds.ts'

const question = { message: 'Which?', schema: z.object({}) }

test('a busy server does not open a state that opens once, though results are stored', async () => {
  const finishers: (() => void)[] = []
  let isBlocking = false
  const served = serve(
    async (ctx) => {
      if (isBlocking) await new Promise<void>((resolve) => finishers.push(resolve))
      await ctx.elicit('a', question)
      return 'done'
    },
    {
      strictReplay: false,
      state: singleUseState(
        sealedState({ keys: ['790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef'] }),
        memoryStore(),
      ),
      idempotency: { store: memoryStore() },
      shedding: { hardLimit: { running: 1 } },
    },
  )
  // With a principal and an idempotency key, results are stored, and a stored one is returned by a busy server too.
  const optionsOf = (key: string) => ({
    principal: { issuer: 'https://id.test', subject: 'ada' },
    meta: { [projectMetaKeys.idempotencyKey]: key },
  })
  const begin = async (key: string) => {
    const { state } = await send(served, {}, optionsOf(key))
    return () => send(served, { state, responses: { a: accept() } }, optionsOf(key))
  }
  const [answerFirst, answerSecond] = [await begin('AAAAAAAAAAAAAAAAAAAAAA'), await begin('AAAAAAAAAAAAAAAAAAAAAQ')]
  isBlocking = true
  const running = [send(served), answerFirst()]
  await expect.poll(() => finishers.length).toBe(2)
  expect((await answerSecond()).error?.data).toMatchObject({ reason: 'overloaded' })
  isBlocking = false
  for (const finish of finishers) finish()
  await Promise.all(running)
  expect((await answerSecond()).text).toBe('done')
})
