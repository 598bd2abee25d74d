import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { sessionsClient } from '@x/sessions/client'
import { sessions as serverSessions } from '@x/sessions/server'
import { randomKey, sealedState } from '@x/state-codec'
import * as z from 'zod'
import { cpuColumn, type RatioBenchmark, ratioBenchmark } from './ratios.ts'
import { type CallTime, timeCalls } from './time-calls.ts'

/**
 * Measures the time that a session adds to a call, from client to server and back in memory, on one thread.
 *
 * Method: `@x/client` calls the same tool, one call at a time, at a plain server, and in a session whose state each call
 * reads. After a warm-up both alternate in rounds of a fixed time. Ratios to the plain call are formed within a round.
 * Each must return the right result before the measurement. Not measured: transports, stores, concurrent calls.
 */
export const ratios: readonly RatioBenchmark[] = [
  ratioBenchmark({
    targets: ['plain', 'ours'].map((name) => ({ name, start: () => startStep(name) })),
    passes: [
      {
        title: 'tools/call in a session, from client to server in memory',
        rows: [{ id: 'sessions/read', base: 'plain' }],
        columns: [{ unit: 'us', of: ({ elapsed }: CallTime) => elapsed }, cpuColumn],
        measure: ({ call }: Step, { seconds }) => timeCalls(call, seconds),
      },
    ],
    parts: { round: 20, warmUp: 10 },
  }),
]

interface Step {
  readonly name: string
  readonly call: () => Promise<unknown>
}

async function startStep(name: string): Promise<Step> {
  const sessions = serverSessions({
    state: { schema: z.object({ note: z.string() }), initial: { note: '' } },
  })
  const work = tool('work', {
    description: 'Works',
    input: z.object({ write: z.boolean() }),
    run: (_args, ctx) => String(sessions.find(ctx) !== undefined),
  })
  const state = sealedState({ keys: [randomKey()] })
  const host = { name: 'bench', version: '1.0.0' }
  const definition = { ...host, state, strictReplay: false, tools: [work] }
  const caller =
    name === 'plain'
      ? createClient(createServer(definition), host)
      : await createClient(createServer({ ...definition, extensions: [sessions] }), {
          ...host,
          extensions: [sessionsClient()],
        }).sessions.create()
  const call = () => caller.callTool('work', { write: false })
  const answer = JSON.stringify((await call()).content)
  if (!answer.includes(String(name === 'ours'))) throw new Error(`${name} is wrong: ${answer}`)
  return { name, call }
}
