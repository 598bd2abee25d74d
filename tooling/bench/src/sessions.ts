import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { sessionsClient } from '@x/sessions/client'
import { sessions as serverSessions } from '@x/sessions/server'
import { randomKey, sealedState } from '@x/state-codec'
import * as z from 'zod'
import { compareTargets, cpuColumn, type RatioBenchmark, runBenchmarks } from './ratios.ts'
import { type CallTime, timeCalls } from './time-calls.ts'

/**
 * Measures the time that a session adds to a call, from client to server and back in memory, on one thread.
 *
 * Method: `@x/client` calls the same tool, one call at a time, at a plain server, and in a session whose state each call
 * reads. After a warm-up both alternate in rounds of a fixed time. Ratios to the plain call are formed within a round.
 * Each must return the right result before the measurement. Not measured: transports, stores, concurrent calls.
 */
export const sessionsBenchmark: RatioBenchmark = {
  ids: ['sessions/read'],
  async measure({ timing, ...options }) {
    const targets = await openSteps()
    for (const { call } of targets) await timeCalls(call, timing.warmUp / 10)
    const short = { ...timing, rounds: timing.rounds * 3, seconds: timing.seconds / 20 }
    const measure = ({ call }: Step, seconds: number): Promise<CallTime> => timeCalls(call, seconds)
    const title = 'tools/call in a session, from client to server in memory'
    const rows = [{ id: 'sessions/read', name: reading, base: plain }] as const
    const elapsed = { unit: 'us', of: (one: CallTime) => one.elapsed }
    const comparison = { title, targets, rows, base: plain, measure }
    return compareTargets({ ...comparison, columns: [elapsed, cpuColumn] }, { ...options, timing: short })
  },
}

/** Runs the benchmark and prints its report. */
export function run(options: { readonly quick: boolean }): Promise<void> {
  return runBenchmarks([sessionsBenchmark], options)
}

const plain = 'plain'
const reading = 'in a session, read'

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
  const steps = [
    { name: plain, caller: createClient(server, host), expected: 'false' },
    { name: reading, caller: await client.sessions.create(), expected: 'true' },
  ]
  for (const { name, caller, expected } of steps) {
    const { content } = await caller.callTool('work', { write: false })
    if (JSON.stringify(content) !== JSON.stringify([{ type: 'text', text: expected }]))
      throw new Error(`${name} is wrong`)
  }
  return steps.map(({ name, caller }) => ({ name, call: () => caller.callTool('work', { write: false }) }))
}
