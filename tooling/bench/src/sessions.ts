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
 * Method: `@x/client` calls the same tool, one call at a time, in four variants. The variants are a plain server, a
 * server with the sessions extension but without a session, a session whose state each call reads, and a session whose
 * state of 100 bytes each call replaces. After a warm-up the variants alternate in rounds of a fixed time. Ratios to
 * the plain call are formed within a round. Each variant must return the right result before the measurement. Not
 * measured: transports, stores, concurrent calls.
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
  const note = 'x'.repeat(100)
  const input = z.object({ write: z.boolean() })
  const work = tool('work', {
    description: 'Works',
    input,
    run({ write }, ctx) {
      const session = sessions.find(ctx)
      if (write) session?.setState({ note })
      return `${session !== undefined}`
    },
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
  const [plainClient, outside, client] = [
    createClient(server, host),
    createClient(within, host),
    createClient(within, { ...host, extensions: [sessionsClient()] }),
  ]
  const [readSession, writtenSession] = [await client.sessions.create(), await client.sessions.create()]
  const steps = [
    { name: plain, caller: plainClient, write: false, expected: 'false' },
    { name: 'sessions around it, none used', caller: outside, write: false, expected: 'false' },
    { name: reading, caller: readSession, write: false, expected: 'true' },
    { name: 'in a session, replaced', caller: writtenSession, write: true, expected: 'true' },
  ]
  for (const { name, caller, write, expected } of steps) {
    const { content } = await caller.callTool('work', { write })
    if (JSON.stringify(content) !== JSON.stringify([{ type: 'text', text: expected }]))
      throw new Error(`${name} is wrong`)
  }
  return steps.map(({ name, caller, write }) => ({ name, call: () => caller.callTool('work', { write }) }))
}
