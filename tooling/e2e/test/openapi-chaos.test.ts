import { setTimeout } from 'node:timers/promises'
import { sizeOf } from '@tooling/vitest/needs'
import { randomFrom } from '@tooling/vitest/random'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keys } from './asking.ts'
import { repeatFaults } from './chaos.ts'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { startOrdersApi } from './orders-api.ts'
import { type ProcessFleet, startProcessFleet } from './process-fleet.ts'

// `OPENAPI_CHAOS_SEED=… npm test -- e2e openapi-chaos` repeats a run.
const seed = Number(process.env['OPENAPI_CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const callCount = sizeOf({ change: 30, night: 1500 })

/** What the user does with the question about an order: two of three are deleted. */
const answers = [
  { action: 'accept', content: { confirm: true } },
  { action: 'accept', content: { confirm: true } },
  { action: 'accept', content: { confirm: false } },
  { action: 'accept', content: { confirm: true } },
  { action: 'accept', content: { confirm: true } },
  { action: 'decline' },
] as const
const answerTo = (id: number): (typeof answers)[number] => answers[id % answers.length] ?? answers[5]
const isAccepted = (id: number): boolean => id % 3 !== 2

/** Deletes orders until none is left. Each request goes to the next instance. */
async function deleteOrders(fleet: ProcessFleet, nextId: () => number | undefined): Promise<readonly string[]> {
  let turn = 0
  const rotate: typeof fetch = (address, init) => {
    const { ports } = fleet
    turn += 1
    return fetch(String(address).replace(/:\d+/, `:${ports[turn % ports.length] ?? 9}`), init)
  }
  await using connection = connectHttp(`http://127.0.0.1:${fleet.ports[0]}/mcp`, { fetch: rotate as never })
  const client = createClient(connection, {
    name: 'host',
    version: '1.0.0',
    elicit: ({ message }) => answerTo(Number(message.split('/').at(-1))),
  })
  await client.listTools()
  const wrong: string[] = []
  for (let id = nextId(); id !== undefined; id = nextId()) {
    const outcome = await client.callTool('deleteOrder', { id }).catch((error: unknown) => String(error))
    const isError = typeof outcome === 'string' || outcome.isError === true
    if (typeof outcome === 'string' || isError === isAccepted(id)) wrong.push(`${id}: ${JSON.stringify(outcome)}`)
  }
  return wrong
}

let program: ChildProgram
beforeAll(async () => {
  program = await bundleProgram(new URL('programs/orders-instance.ts', import.meta.url))
})
afterAll(() => program?.[Symbol.asyncDispose]())

test(`each accepted form deletes once, and no other form does, while instances are killed (OPENAPI_CHAOS_SEED=${seed})`, async () => {
  await using api = await startOrdersApi()
  const environment = { API_URL: api.url, STATE_KEYS: keys.first }
  await using fleet = await startProcessFleet(program.path, 3, environment)
  const random = randomFrom(seed)
  let count = 0
  const wrong: string[] = []
  const faults = await repeatFaults(
    async (isHit) => {
      const nextId = (): number | undefined => (count < callCount || !isHit() ? count++ : undefined)
      const callers = Array.from({ length: 8 }, async () => wrong.push(...(await deleteOrders(fleet, nextId))))
      await Promise.all(callers)
    },
    async (each) => {
      await setTimeout(random() * 200)
      const index = Math.floor(random() * 3)
      each.push(`kill ${index}`)
      await fleet.replace(index)
    },
  )
  process.stdout.write(
    `${count} calls, ${api.requests.length} requests, ${faults.length} kills (OPENAPI_CHAOS_SEED=${seed})\n`,
  )
  expect(wrong).toEqual([])
  const accepted = Array.from({ length: count }, (_, id) => id).filter(isAccepted)
  const deleted = Array.from(api.deleted.values(), Number)
  expect(deleted.toSorted((a, b) => a - b)).toEqual(accepted)
  expect(fleet.crashes).toBe(0)
})
