import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { sessions as clientSessions } from '@x/sessions/client'
import { sessions as serverSessions } from '@x/sessions/server'
import { randomKey, sealed } from '@x/state-codec'
import { z } from 'zod'
import { median } from './median.ts'

/**
 * What a session costs a call, from client to server and back in memory, on one thread.
 *
 * Method: the same tool, called one call at a time by `@x/client` over a plain server, over the same server with
 * sessions around it but without a session, in a session whose state is only read, and in one whose state every call
 * replaces (sealed, 100 bytes of it). The four take turns within one run, in rounds of a fixed time after a warm-up;
 * the number is the median of the rounds, and the ratio is to the plain call of the same run. Each must give the right
 * answer before anything is measured. Not measured: transports, stores, several calls at once.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const steps = await openSteps()
  const rates = await measure(steps, { rounds: quick ? 5 : 25, milliseconds: quick ? 40 : 150 })
  const [plain = 1] = rates
  for (const [index, rate] of rates.entries()) {
    const micros = (1e6 / rate).toFixed(1).padStart(8)
    process.stdout.write(`  ${steps[index]?.name.padEnd(32)}${micros} µs ${(plain / rate).toFixed(2).padStart(7)}x\n`)
  }
}

interface Timing {
  readonly rounds: number
  readonly milliseconds: number
}

/** Calls per second of each step. */
async function measure(steps: readonly Step[], { rounds, milliseconds }: Timing): Promise<readonly number[]> {
  for (const { call } of steps) await round(call, milliseconds)
  const measured = steps.map((): number[] => [])
  for (let at = 0; at < rounds; at++) {
    for (const [index, { call }] of steps.entries()) measured[index]?.push(await round(call, milliseconds))
  }
  return measured.map(median)
}

interface Step {
  readonly name: string
  readonly call: () => Promise<unknown>
}

async function openSteps(): Promise<readonly Step[]> {
  const sessions = serverSessions({
    codec: sealed({ keys: [randomKey()] }),
    state: { schema: z.object({ note: z.string() }), initial: { note: '' } },
  })
  const note = 'x'.repeat(100)
  const input = z.object({ keep: z.boolean() })
  const work = tool('work', {
    description: 'Works',
    input,
    run({ keep }, ctx) {
      const session = sessions.find(ctx)
      if (keep) session?.setState({ note })
      return `${session !== undefined}`
    },
  })
  const definition = { name: 'bench', version: '1.0.0', state: false, strictReplay: false, tools: [work] } as const
  const server = createServer(definition)
  const within = createServer({ ...definition, extensions: [sessions] })
  const host = { name: 'bench', version: '1.0.0' }
  const [plain, outside, client] = [
    createClient(server, host),
    createClient(within, host),
    createClient(within, { ...host, extensions: [clientSessions()] }),
  ]
  const [reading, writing] = [await client.sessions.create(), await client.sessions.create()]
  const steps = [
    { name: 'plain', caller: plain, keep: false, expected: 'false' },
    { name: 'sessions around it, none used', caller: outside, keep: false, expected: 'false' },
    { name: 'in a session, read', caller: reading, keep: false, expected: 'true' },
    { name: 'in a session, replaced', caller: writing, keep: true, expected: 'true' },
  ]
  for (const { name, caller, keep, expected } of steps) {
    const { content } = await caller.callTool('work', { keep })
    if (JSON.stringify(content) !== JSON.stringify([{ type: 'text', text: expected }]))
      throw new Error(`${name} is wrong`)
  }
  return steps.map(({ name, caller, keep }) => ({ name, call: () => caller.callTool('work', { keep }) }))
}

/** Calls per second of one step, over some milliseconds. */
async function round(call: Step['call'], milliseconds: number): Promise<number> {
  let calls = 0
  const start = performance.now()
  let now = start
  while (now - start < milliseconds) {
    for (let index = 0; index < 16; index++) await call()
    calls += 16
    now = performance.now()
  }
  return (calls * 1000) / (now - start)
}
