import {
  createServer,
  form,
  isSuspension,
  type McpServer,
  type StateCodec,
  sealedState,
  type Tool,
  tool,
} from '@x/server'
import * as z from 'zod'

/** The data of the tools below; a stand-in for a real tracker. */
export interface Tracker {
  readonly read: (id: number) => Promise<{ readonly title: string }>
  readonly resolve: (id: number, how: string, idempotencyKey: string) => Promise<{ readonly revision: number }>
  readonly lock: (id: number) => Promise<{ readonly release: () => Promise<void> }>
  readonly reopen: (id: number) => Promise<void>
  readonly isPaid: (invoice: string) => Promise<boolean>
}

// #region straight
const resolution = form(z.object({ resolution: z.enum(['Fixed', "Won't Fix", 'Duplicate']) }))
const original = form(z.object({ id: z.number().int().positive() }))

export const resolveBug = (tracker: Tracker): Tool =>
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
      const saved = await ctx.step('save', ({ idempotencyKey }) => tracker.resolve(id, how, idempotencyKey))
      return `#${id} is ${how} (revision ${saved.revision})`
    },
  })
// #endregion

// #region serve
export const serve = (tracker: Tracker, state: StateCodec): McpServer =>
  createServer({ name: 'bugs', version: '1.0.0', state, tools: [resolveBug(tracker)] })

export const stateFromEnvironment = (): StateCodec =>
  sealedState({ keys: (process.env['STATE_KEYS'] ?? '').split(',') })
// #endregion

// #region together
const day = form(z.object({ day: z.iso.date() }))
const size = form(z.object({ guests: z.number().int().min(1).max(12) }))

export const book = tool('book', {
  description: 'Books a table',
  async run(_, ctx) {
    const [when, table] = await Promise.all([
      ctx.elicit('when', { message: 'On which day?', schema: day }),
      ctx.elicit('table', { message: 'For how many?', schema: size }),
    ])
    return `A table for ${table.guests} on ${when.day}`
  },
})
// #endregion

// #region cleanup
export const resolveLocked = (tracker: Tracker): Tool =>
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
        if (!isSuspension(error)) await tracker.reopen(id)
        throw error
      } finally {
        await lock.release()
      }
    },
  })
// #endregion

// #region loop
const heading = form(z.object({ heading: z.string() }))

export const summarize = (summaryOf: (page: number) => Promise<string>): Tool =>
  tool('summarize', {
    description: 'Summarizes a document of ten pages',
    async run(_, ctx) {
      const progress = ctx.checkpoint('pages', { next: 0, text: '' })
      while (progress.value.next < 10) {
        const { next, text } = progress.value
        await progress.save({ next: next + 1, text: `${text}${await summaryOf(next)}\n` })
      }
      const answer = await ctx.elicit('heading', { message: 'What is the heading?', schema: heading })
      return `# ${answer.heading}\n${progress.value.text}`
    },
  })
// #endregion

// #region url
export const pay = (tracker: Tracker): Tool =>
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
