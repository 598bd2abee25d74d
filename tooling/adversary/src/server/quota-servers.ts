import { createServer, resourceTemplate, sealedState, type ServerDefinition, tool } from '@x/server'
import { type Sessions, sessions } from '@x/sessions/server'
import { memoryStore, randomKey, type StateCodec, storedState } from '@x/state-codec'
import { memoryEngine } from '@x/tasks/memory'
import { tasks } from '@x/tasks/server'
import * as z from 'zod'
import { quota } from './endpoints.ts'

/** The clock of the servers in milliseconds. Attacks can advance it. */
interface AttackedTime {
  readonly now: () => number
}

const keys = [randomKey()]
const sure = z.object({ sure: z.boolean() })
const untilAborted = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve('aborted')))

const wait = tool('wait', {
  description: 'Waits until the call is aborted',
  run: (_args, ctx) => {
    ctx.progress(1, 2)
    return untilAborted(ctx.signal)
  },
})
const hold = tool('hold', {
  description: 'Asks a question, and then waits until the call is aborted',
  run: async (_args, ctx) => {
    await ctx.elicit('sure', { message: 'Sure?', schema: sure })
    ctx.progress(1, 2)
    return untilAborted(ctx.signal)
  },
})
const work = tool('work', { description: 'Runs as a task', task: 'required', run: () => 'done' })
const echo = tool('echo', {
  description: 'Repeats a text',
  input: z.object({ text: z.string() }),
  run: ({ text }) => text,
})
const files = resourceTemplate('file:///{+path}', { name: 'files', read: ({ path }) => path })

/**
 * Creates a server with the limit `quota` per caller for each resource, a server with a limit of concurrent calls, and
 * a server with a worker for tasks.
 */
export function createQuotaServers(
  about: Pick<ServerDefinition, 'log'>,
  clock: AttackedTime,
): Readonly<Record<'quotas' | 'busy' | 'working', ReturnType<typeof createServer>>> {
  const storeOf = (): ReturnType<typeof memoryStore> => memoryStore({ maxEntriesPerOwner: quota, runtime: clock })
  const runtime = { now: clock.now }
  const common = { ...about, version: '1.0.0', runtime }
  const engine = memoryEngine({ wallClock: clock.now })
  return {
    quotas: createServer({
      ...common,
      name: 'quotas',
      tools: [wait, hold, work],
      resourceTemplates: [files],
      state: storedState({ store: storeOf(), runtime: clock }),
      limits: { calls: quota, streams: quota, tasks: quota },
      extensions: [
        sealSessions(sessions({ store: storeOf() }), sealedState({ keys, runtime: clock })),
        // There is no worker, so tasks stay pending until they expire.
        tasks({ store: engine, runWorker: false }),
      ],
    }),
    working: createServer({
      ...common,
      name: 'working',
      tools: [work],
      limits: { tasks: quota },
      extensions: [tasks({ store: memoryEngine({ wallClock: clock.now, maxTasks: 2 * quota }) })],
    }),
    busy: createServer({
      ...common,
      name: 'busy',
      tools: [echo, hold],
      state: sealedState({ keys, runtime: clock }),
      shedding: { hardLimit: { running: quota } },
    }),
  }
}

/** Seals sessions with a separate codec, so that each store has the quota of one kind of state. */
function sealSessions(extension: Sessions<null>, state: StateCodec): Sessions<null> {
  return { ...extension, start: (host) => extension.start?.({ ...host, state }) ?? {} }
}
