import { type Client, createClient } from '@x/client'
import { type Context, createServer, type KeyInput, prompt, resourceTemplate, sealedState } from '@x/server'
import { sessions } from '@x/sessions/server'
import { tasks } from '@x/tasks/server'
import * as z from 'zod'

// Correct first guesses of an author: each compiles and has the intended effect.

interface Issue {
  readonly id: number
  readonly title: string
  readonly assignee?: string | undefined
}

export const interfaceInStep = (ctx: Context, load: () => Promise<Issue[]>): Promise<Issue[]> =>
  ctx.step('issues', load)

export async function emptyList(ctx: Context): Promise<unknown> {
  const progress = ctx.checkpoint('progress', { next: 0, ids: [] })
  await progress.save({ next: 1, ids: ['a'] })
  return progress.value
}

export function storeOfEnvironment(environment: { readonly STORE?: string }): void {
  tasks({ store: environment.STORE })
}

export function callbacksOfExtensions(keys: readonly KeyInput[]): void {
  createServer({
    name: 'guesses',
    version: '1.0.0',
    state: sealedState({ keys }),
    extensions: [
      sessions({
        state: { schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } },
        onCreate: ({ id }) => ({ items: [id] }),
        onDelete: ({ state }) => console.log(state?.items.length),
      }),
    ],
  })
}

const notes = ['monday', 'tuesday']

export const listOfTemplate = resourceTemplate('notes://days/{day}', {
  name: 'Note of a day',
  list: async () => notes.map((day) => ({ uri: `notes://days/${day}`, name: day })),
  read: ({ day }) => day,
})

export const pagesOfTemplate = resourceTemplate('notes://pages/{page}', {
  name: 'Page',
  list: async () => ({ resources: [{ uri: 'notes://pages/1', name: 'One' }] }),
  read: ({ page }) => page,
})

export const coercedArgument = prompt('count', {
  input: z.object({ upTo: z.coerce.number().int() }),
  run: ({ upTo }) => `Count to ${upTo + 1}`,
})

export const guesses = createServer({
  name: 'guesses',
  version: '1.0.0',
  prompts: [coercedArgument],
  resourceTemplates: [listOfTemplate, pagesOfTemplate],
  state: false,
})

export const author = { name: 'author', version: '1.0.0' }

export const client = createClient(guesses, author)

export const serverInfo = (known: Client): string | undefined => known.serverInfo?.name
