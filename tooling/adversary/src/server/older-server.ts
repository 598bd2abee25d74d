import { legacy } from '@x/legacy'
import { createServer, sealedState, type ServerDefinition, tool } from '@x/server'
import { randomKey } from '@x/state-codec'
import { z } from 'zod'
import { quota, waiting } from './endpoints.ts'

/** A server for older clients, whose calls wait for answers. */
interface OlderServer {
  readonly server: ReturnType<typeof createServer>
  /** Returns the number of waiting calls, and the number of polls of a page. */
  readonly counts: () => { readonly waiting: number; readonly polls: number }
}

/** Creates a server with small limits for the running and waiting calls of one caller. */
export function createOlderServer(about: Pick<ServerDefinition, 'log'>): OlderServer {
  let polls = 0
  const ask = tool('ask', {
    description: 'Asks for a name',
    input: z.object({ text: z.string() }),
    run: async (_args, ctx) => {
      const { name } = await ctx.elicit('name', { message: 'Name?', schema: z.object({ name: z.string() }) })
      return name
    },
  })
  const visit = tool('visit', {
    description: 'Asks for the visit of a page that never completes',
    run: async (_args, ctx) => {
      const isDone = (): boolean => {
        polls += 1
        return false
      }
      await ctx.elicitUrl('page', { message: 'Visit', url: 'https://pages.example/', isDone })
      return 'visited'
    },
  })
  const state = sealedState({ keys: [randomKey()] })
  const server = createServer({
    ...about,
    name: 'older',
    version: '1.0.0',
    tools: [ask, visit],
    state,
    limits: { calls: quota, waitingCalls: waiting.calls, bytes: waiting.bytes },
    extensions: [legacy()],
  })
  return { server, counts: () => ({ waiting: server.ledger.usedInAll('waiting_calls'), polls }) }
}
