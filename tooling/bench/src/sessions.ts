import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { sessionsClient } from '@x/sessions/client'
import { sessions as serverSessions } from '@x/sessions/server'
import { randomKey, sealedState } from '@x/state-codec'
import * as z from 'zod'
import { type MeasureOptions, optionsOf, type RatioBenchmark } from './benchmark.ts'
import { measureRounds, medianOf, type Round, shareOf } from './alternating-rounds.ts'
import { type CallTime, timeCalls } from './time-calls.ts'
import { type Reading, readingLine } from './wanted.ts'

/**
 * Measures the time that a session adds to a call, from client to server and back in memory, on one thread.
 *
 * Method: `@x/client` calls the same tool, one call at a time, in four variants. The variants are a plain server, a
 * server with the sessions extension but without a session, a session whose state each call reads, and a session whose
 * state of 100 bytes each call replaces. After a warm-up the variants alternate in rounds of a fixed time. Ratios to
 * the plain call are formed within a round. Each variant must return the right result before the measurement. Not
 * measured: transports, stores, concurrent calls.
 */
export const sessionsBenchmark: RatioBenchmark = { ids: ['sessions/read'], measure }

/** Runs the benchmark and prints its report. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await measure(optionsOf(options))
}

async function measure({ timing, print }: MeasureOptions): Promise<readonly Reading[]> {
  const steps = await openSteps()
  const milliseconds = timing.seconds * 50
  for (const { call } of steps) await timeCalls(call, timing.warmUp * 100)
  const measured = await measureRounds(steps, timing.rounds * 3, ({ call }) => timeCalls(call, milliseconds))
  for (const { name } of steps) print(reportLine(measured, name))
  const text = (name: string): string => `${medianOf(measured, name, micros).toFixed(1)} us`
  const value = shareOf(measured, { name: reading, base: plain, of: micros })
  const cpu = shareOf(measured, { name: reading, base: plain, of: (one) => one.cpu })
  const result: Reading = { id: 'sessions/read', value, ours: text(reading), floor: text(plain), cpu }
  print(readingLine(result))
  return [result]
}

const plain = 'plain'
const reading = 'in a session, read'

const micros = ({ elapsed }: CallTime): number => elapsed

function reportLine(measured: readonly Round<CallTime>[], name: string): string {
  const share = shareOf(measured, { name, base: plain, of: micros })
  return `  ${name.padEnd(32)}${medianOf(measured, name, micros).toFixed(1).padStart(8)} us ${share.toFixed(2).padStart(7)}x`
}

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
