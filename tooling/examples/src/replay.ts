import { form, inputRequired, isSuspension, tool, ToolError } from '@x/server'
import * as z from 'zod'

// #region straight
export interface Tracker {
  readonly read: (id: number) => Promise<{ readonly title: string }>
  readonly resolve: (id: number, how: string, idempotencyKey: string) => Promise<void>
  readonly lock: (id: number) => Promise<{ readonly release: () => Promise<void> }>
  readonly isPaid: (invoice: string) => Promise<boolean>
}

const resolution = form(z.object({ resolution: z.enum(['Fixed', "Won't Fix", 'Duplicate']) }))
const original = form(z.object({ id: z.number().int().positive() }))

export const resolveBug = (tracker: Tracker) =>
  tool('resolve_bug', {
    description: 'Resolves a bug',
    input: z.object({ id: z.number().int() }),
    async run({ id }, ctx) {
      const { title } = await ctx.step('read', () => tracker.read(id))
      const answer = await ctx.elicit('resolution', { message: `How was "${title}" resolved?`, schema: resolution })
      let how: string = answer.resolution
      if (how === 'Duplicate') {
        const duplicate = await ctx.elicit('original', { message: 'Which bug does it repeat?', schema: original })
        how = `Duplicate of #${duplicate.id}`
      }
      await ctx.step('save', ({ idempotencyKey }) => tracker.resolve(id, how, idempotencyKey))
      return `#${id} is ${how}`
    },
  })
// #endregion

// #region cleanup
export const resolveLocked = (tracker: Tracker) =>
  tool('resolve_locked', {
    description: 'Locks a bug, and resolves it',
    input: z.object({ id: z.number().int() }),
    async run({ id }, ctx) {
      const lock = await tracker.lock(id)
      try {
        const answer = await ctx.elicit('resolution', { message: 'How was it resolved?', schema: resolution })
        await ctx.step('save', ({ idempotencyKey }) => tracker.resolve(id, answer.resolution, idempotencyKey))
        return 'Done'
      } catch (error) {
        if (!isSuspension(error)) console.error(`Bug ${id} was not resolved`)
        throw error
      } finally {
        await lock.release()
      }
    },
  })
// #endregion

// #region can
export const greetUser = tool('greet_user', {
  description: 'Greets the user',
  input: z.object({ name: z.string().optional() }),
  async run({ name }, ctx) {
    if (name !== undefined) return `Hello, ${name}`
    if (!ctx.can('elicitation.form')) throw new ToolError('Ask the user for the name, and pass it as "name"')
    const answer = await ctx.elicit('name', { message: 'Who are you?', schema: z.object({ name: z.string() }) })
    return `Hello, ${answer.name}`
  },
})
// #endregion

// #region url
export const pay = (tracker: Tracker) =>
  tool('pay', {
    description: 'Asks the user to pay an invoice',
    async run(_, ctx) {
      const invoice = ctx.uuid('invoice')
      await ctx.elicitUrl('payment', {
        message: 'Please pay the invoice',
        url: `https://pay.example.com/invoices/${invoice}`,
        isDone: () => tracker.isPaid(invoice),
      })
      return 'Paid, thank you'
    },
  })
// #endregion

// #region rounds
const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } } as const
const params = { mode: 'form', message: 'What is your name?', requestedSchema } as const
export const askName = tool('ask_name', {
  description: 'Asks the user for a name',
  run(_, { responses, state }) {
    const answer = state === 'name' ? responses.get('name') : undefined
    if (answer !== undefined) return `The client sent ${JSON.stringify(answer)}`
    return inputRequired({ requests: { name: { method: 'elicitation/create', params } }, state: 'name' })
  },
})
// #endregion
