import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { sessionsClient } from '@x/sessions/client'
import { sessions as serverSessions } from '@x/sessions/server'
import { randomKey, sealedState } from '@x/state-codec'
import * as z from 'zod'
import { compareTargets, cpuColumn, inShortRounds, type RatioBenchmark } from './ratios.ts'
import { type CallTime, timeCalls } from './time-calls.ts'

/**
 * Measures the time that a session adds to a call, from client to server and back in memory, on one thread.
 *
 * Method: `@x/client` calls the same tool, one call at a time, at a plain server, and in a session whose state each call
 * reads. After a warm-up both alternate in rounds of a fixed time. Ratios to the plain call are formed within a round.
 * Each must return the right result before the measurement. Not measured: transports, stores, concurrent calls.
 */
export const ratios: readonly RatioBenchmark[] = [
  {
    ids: ['sessions/read'],
    measure: async (options) => {
      const targets = (await openSteps()).map((step) => ({ name: step.name, start: () => step }))
      const title = 'tools/call in a session, from client to server in memory'
      const columns = [{ unit: 'us', of: ({ elapsed }: CallTime) => elapsed }, cpuColumn] as const
      const measure = ({ call }: Step, seconds: number): Promise<CallTime> => timeCalls(call, seconds)
      const warm = (step: Step, seconds: number): Promise<CallTime> => measure(step, seconds / 10)
      const rows = [{ id: 'sessions/read', base: 'plain' }] as const
      const passes = [{ title, rows, columns, measure }]
      return compareTargets({ targets, passes, warm }, inShortRounds(options, 20))
    },
  },
]

interface Step {
  readonly name: string
  readonly call: () => Promise<unknown>
}

async function openSteps(): Promise<readonly Step[]> {
  const sessions = serverSessions({
    state: { schema: z.object({ note: z.string() }), initial: { note: '' } },
  })
  const work = tool('work', {
    description: 'Works',
    input: z.object({ write: z.boolean() }),
    run: (_args, ctx) => String(sessions.find(ctx) !== undefined),
  })
  const definition = {
    name: 'bench',
    version: '1.0.0',
    state: sealedState({ keys: [randomKey()] }),
    strictReplay: false,
    tools: [work],
  } as const
  const server = createServer(definition)
  const within = createServer({ ...definition, extensions: [sessions] })
  const host = { name: 'bench', version: '1.0.0' }
  const client = createClient(within, { ...host, extensions: [sessionsClient()] })
  const callers = { plain: createClient(server, host), ours: await client.sessions.create() }
  const steps: Step[] = []
  for (const [name, caller] of Object.entries(callers)) {
    const call = () => caller.callTool('work', { write: false })
    const answer = JSON.stringify((await call()).content)
    if (!answer.includes(String(name === 'ours'))) throw new Error(`${name} is wrong: ${answer}`)
    steps.push({ name, call })
  }
  return steps
}
