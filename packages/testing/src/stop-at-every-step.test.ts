import { createServer, form, type ServerDefinition, tool } from '@x/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { stopAtEveryStep, type ServerKit } from './index.ts'

const sure = form(z.object({ sure: z.boolean() }))

/** A bank whose transfer is written once, however often it is asked for under one key. */
function createBank() {
  const entries = new Map<string, number>()
  return {
    entries,
    write: (key: string, amount: number) => void entries.set(key, amount),
    reset: () => entries.clear(),
  }
}

const bank = createBank()

const transfer = tool('transfer', {
  description: 'Moves money',
  async run(_, ctx) {
    const amount = await ctx.step('read', () => 5)
    const { sure: isSure } = await ctx.elicit('sure', { message: `Move ${amount}?`, schema: sure })
    await ctx.step('write', ({ idempotencyKey }) => bank.write(idempotencyKey, amount))
    const progress = ctx.checkpoint('mails', 0)
    while (progress.value < 2) await progress.save(progress.value + 1)
    return `${isSure} ${amount} ${progress.value} ${ctx.uuid('receipt')} ${ctx.now()}`
  },
})

const definition: ServerDefinition = { name: 'bank', version: '1', tools: [transfer] }

test('a call is stopped after each step and each checkpoint, and another instance continues it', async () => {
  const instances: number[] = []
  const report = await stopAtEveryStep((kit) => createServer({ ...definition, ...kit }), {
    reset: bank.reset,
    answers: { sure: { sure: true } },
    call: async (client) => {
      const { content } = await client.callTool('transfer')
      instances.push(client.instances.length)
      return [content, [...bank.entries.values()]]
    },
  })
  // The receipt's id follows from the call's own, so that it is the same at every instance.
  const text = expect.stringMatching(new RegExp(`^true 5 2 [0-9a-f-]{36} ${Date.UTC(2026, 0, 1)}$`))
  expect(report.outcome).toEqual({ result: [[{ type: 'text', text }], [5]] })
  expect(report.stoppedSteps).toEqual([
    { step: 1, target: 'transfer', recordedKeys: ['read'] },
    { step: 2, target: 'transfer', recordedKeys: ['read', 'write'] },
    { step: 3, target: 'transfer', recordedKeys: ['read', 'write', 'mails'] },
    { step: 4, target: 'transfer', recordedKeys: ['read', 'write', 'mails'] },
  ])
  // The question takes one more instance, and each stop another one.
  expect(instances).toEqual([1, 3, 3, 3, 3])
})

test('a handler that keeps state between its steps is reported with the step', async () => {
  const forgetful = tool('forgetful', {
    description: 'Counts in a variable',
    async run(_, ctx) {
      let total = 0
      await ctx.step('one', () => void (total += 1))
      await ctx.step('two', () => void (total += 1))
      return `${total}`
    },
  })
  const check = stopAtEveryStep((kit) => createServer({ ...definition, tools: [forgetful], ...kit }), {
    strictReplay: false,
    call: (client) => client.callTool('forgetful'),
  })
  await expect(check).rejects.toMatchObject({
    code: 'outcome_differs',
    message: expect.stringMatching(
      /^stopped after step 1 of "forgetful" \(recorded: one\).*text is "1" instead of "2"$/,
    ),
  })
})

test('steps that run side by side are recorded together, and none is done twice', async () => {
  const done: string[] = []
  const both = tool('both', {
    description: 'Does two things at once',
    async run(_, ctx) {
      await Promise.all(['a', 'b'].map((key) => ctx.step(key, () => void done.push(key))))
      return 'done'
    },
  })
  for (const strictReplay of [true, false]) {
    const { outcome } = await stopAtEveryStep((kit) => createServer({ ...definition, tools: [both], ...kit }), {
      strictReplay,
      reset: () => void done.splice(0),
      call: async (client) => {
        await client.callTool('both')
        return done
      },
    })
    expect(outcome).toEqual({ result: ['a', 'b'] })
  }
})

test('state that an instance keeps in memory is reported', async () => {
  const check = stopAtEveryStep(
    (kit) => {
      const seen: number[] = []
      const remember = tool('remember', {
        description: 'Keeps what it read',
        async run(_, ctx) {
          await ctx.step('read', () => void seen.push(7))
          return `${seen.at(-1)}`
        },
      })
      return createServer({ ...definition, tools: [remember], ...kit })
    },
    { call: (client) => client.callTool('remember') },
  )
  await expect(check).rejects.toThrow('text is "undefined" instead of "7"')
})

test('repeated work outside of a step is found by its effects', async () => {
  const mails: string[] = []
  const careless = tool('careless', {
    description: 'Sends a mail on its way',
    async run(_, ctx) {
      mails.push('sent')
      await ctx.step('save', () => 1)
      return 'done'
    },
  })
  const check = stopAtEveryStep((kit) => createServer({ ...definition, tools: [careless], ...kit }), {
    reset: () => void mails.splice(0),
    strictReplay: false,
    call: async (client) => [await client.callTool('careless'), mails],
  })
  await expect(check).rejects.toThrow('outcome.result[1][1] is "sent" instead of undefined')
})

test('a call that fails has an outcome, too', async () => {
  const failing = tool('failing', {
    description: 'Fails',
    async run(_, ctx) {
      await ctx.step('one', () => 1)
      return ctx.elicit('sure', { message: 'Sure?', schema: sure }).then(() => 'done')
    },
  })
  const { outcome } = await stopAtEveryStep((kit) => createServer({ ...definition, tools: [failing], ...kit }), {
    capabilities: {},
    call: (client) => client.callTool('failing'),
  })
  expect(outcome).toMatchObject({ error: { name: 'ClientError', code: -32021 } })
})

test('a check that could not fail is refused', async () => {
  const plain = tool('plain', { description: 'Has no step', run: () => 'done' })
  const make = (kit: ServerKit) => createServer({ ...definition, tools: [plain], ...kit })
  await expect(stopAtEveryStep(make, { call: (client) => client.callTool('plain') })).rejects.toMatchObject({
    code: 'no_steps',
  })
  await expect(
    stopAtEveryStep(() => createServer({ ...definition, state: false }), {
      call: (client) => client.callTool('transfer'),
    }),
  ).rejects.toMatchObject({ code: 'kit_unused' })
})

test('a missing answer is an error, and not an outcome to compare', async () => {
  const check = stopAtEveryStep((kit) => createServer({ ...definition, ...kit }), {
    call: (client) => client.callTool('transfer'),
  })
  await expect(check).rejects.toMatchObject({ code: 'unanswered' })
})
