import type { Client } from '@x/client'
import { type Context, prompt, tool } from '@x/server'
import { tasksClient } from '@x/tasks/client'
import * as z from 'zod'
import { client } from './accepted.ts'

// Wrong first guesses of an author: the error of each line names the correct form.

export function dateInStep(ctx: Context): void {
  const load = async () => ({ list: [{ id: 1, created: new Date() }] })
  void ctx.step('issue', load) // error: it.list[].created: Date (write toISOString())
}

export const inputSchema = tool('greet', {
  description: 'Greets a person',
  inputSchema: z.object({ name: z.string() }), // error: it is called input
  run: () => 'Hello!',
})

export const outputSchema = tool('greet', {
  description: 'Greets a person',
  outputSchema: z.object({ text: z.string() }), // error: it is called output
  run: () => 'Hello!',
})

export const argsSchema = prompt('review', {
  argsSchema: z.object({ code: z.string() }), // error: it is called input
  run: () => 'Hello!',
})

export function numberForPrompt(): void {
  void client.prompts.count({ upTo: 3 }) // error: Type 'number' is not assignable to type 'string'
}

export function pollInterval(): void {
  tasksClient({ polling: { usualMs: 100 } }) // error: 'usualMs' does not exist in type 'PollingOptions'
  tasksClient({ pollIntervalMs: 100 }) // error: 'pollIntervalMs' does not exist in type
}

export function untyped(other: Client): void {
  void other.tools.greet({ name: 'Ada' }) // error: Property 'greet' does not exist on type 'UnknownServer'
}
