import { createServer, form, type McpServer, sealedState, tool } from '@x/server'
import type { StateStore } from '@x/state-codec'
import * as z from 'zod'

// #region tool
/** A substitute for a bank, which the tool below calls. */
export interface Bank {
  readonly pay: (amount: number, to: string, idempotencyKey: string) => Promise<string>
}

const recipient = form(z.object({ to: z.string() }))

export const pay = (bank: Bank) =>
  tool('pay', {
    description: 'Pays an amount to a recipient',
    input: z.object({ amount: z.number().positive() }),
    keyedEffects: true,
    async run({ amount }, ctx) {
      const { to } = await ctx.elicit('to', { message: 'Which recipient?', schema: recipient })
      return ctx.step('pay', ({ idempotencyKey }) => bank.pay(amount, to, idempotencyKey))
    },
  })
// #endregion

// #region store
export const payments = (bank: Bank, store: StateStore): McpServer =>
  createServer({
    name: 'payments',
    version: '1.0.0',
    state: sealedState({ keys: (process.env['STATE_KEYS'] ?? '').split(',') }),
    tools: [pay(bank)],
    idempotency: { store },
  })
// #endregion
