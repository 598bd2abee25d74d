import { type Context, createServer, type KeyInput, sealedState, tool } from '@x/server'
import { sessions } from '@x/sessions/server'
import { tasks } from '@x/tasks/server'
import { z } from 'zod'

// The first guesses of an author. Each compiles, or the compiler's error says what is right.

interface Issue {
  readonly id: number
  readonly title: string
  readonly assignee?: string | undefined
}

export const step = (ctx: Context, load: () => Promise<Issue[]>): Promise<Issue[]> => ctx.step('issues', load)

export async function emptyList(ctx: Context): Promise<void> {
  const progress = ctx.checkpoint('progress', { next: 0, ids: [] })
  await progress.save({ next: 1, ids: ['a'] })
}

export function storeOfEnvironment(environment: { readonly STORE?: string }): void {
  tasks({ store: environment.STORE })
}

export function callbacksOfExtensions(keys: readonly KeyInput[]): void {
  createServer({
    name: 'guesses',
    version: '1.0.0',
    extensions: [
      tasks({ onError: (error) => console.error(error) }),
      sessions({
        codec: sealedState({ keys }),
        state: { schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } },
        onCreate: ({ id }) => ({ items: [id] }),
        onDelete: ({ state }) => console.log(state?.items.length),
        onError: (error, { method }) => console.error(method, error),
      }),
    ],
  })
}

export function dateInStep(ctx: Context): void {
  const load = async () => ({ list: [{ id: 1, created: new Date() }] })
  void ctx.step('issue', load) // error: it.list[].created: Date (write toISOString())
}

export const inputSchema = tool('greet', {
  description: 'Greets somebody',
  inputSchema: z.object({ name: z.string() }), // error: it is called input
  run: () => 'Hello!',
})

export const outputSchema = tool('greet', {
  description: 'Greets somebody',
  outputSchema: z.object({ text: z.string() }), // error: it is called output
  run: () => 'Hello!',
})
