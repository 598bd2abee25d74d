import { legacy } from '@x/legacy'
import { createServer, sealedState, type ServerDefinition, tool } from '@x/server'
import { randomKey } from '@x/state-codec'
import { z } from 'zod'
import { quota, waiting } from './endpoints.ts'

/** A server of older clients, whose calls wait for answers. */
interface OlderServer {
  readonly server: ReturnType<typeof createServer>
  /** The calls that wait for an answer, and how often a page was looked at. */
  readonly counts: () => { readonly waiting: number; readonly looks: number }
}

/** Makes a server of which one caller may have few calls that run or wait. */
export function createOlderServer(about: Pick<ServerDefinition, 'log'>): OlderServer {
  let looks = 0
  const ask = tool('ask', {
    description: 'Asks for a name',
    input: z.object({ text: z.string() }),
    run: async (_args, ctx) => {
      const { name } = await ctx.elicit('name', { message: 'Name?', schema: z.object({ name: z.string() }) })
      return name
    },
  })
  const visit = tool('visit', {
    description: 'Asks for the visit of a page, which is never done',
    run: async (_args, ctx) => {
      const isDone = (): boolean => {
        looks += 1
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
  return { server, counts: () => ({ waiting: server.ledger.usedInAll('waiting_calls'), looks }) }
}
