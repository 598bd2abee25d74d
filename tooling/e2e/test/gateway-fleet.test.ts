import { rm } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { sizeOf } from '@tooling/vitest/needs'
import { type Client, createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { textOf } from './asking.ts'
import { type BookingFleet, startBookingFleet, tooLargeText } from './booking-fleet.ts'
import { bookingsIn, createBookingFolder } from './booking-server.ts'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { subjectHeader } from './gateway-user.ts'
import { processesOf } from './process-list.ts'

let booking: ChildProgram
let folder: string
beforeAll(async () => {
  booking = await bundleProgram(new URL('programs/booking.ts', import.meta.url))
  folder = await createBookingFolder()
})
afterAll(async () => {
  await booking[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

interface Host extends AsyncDisposable {
  readonly client: Client
  /** The name in the host's answer to its next question. So a host makes one call at a time. */
  name: string
}

/** Opens a host whose requests are distributed in turn among the instances, as behind a load balancer. */
function openHost(subject: string, { readyUrls }: BookingFleet): Host {
  let turn = 0
  const rotate: typeof fetch = (input, init) => {
    turn += 1
    const urls = readyUrls()
    return fetch(urls[turn % urls.length] ?? String(input), init)
  }
  const headers = { [subjectHeader]: subject }
  const connection = connectHttp(readyUrls()[0] ?? '', { headers, fetch: rotate as never })
  const host: Host = {
    name: '',
    client: createClient(connection, {
      name: 'host',
      version: '1.0.0',
      elicit: () => ({ action: 'accept', content: { name: host.name } }),
    }),
    [Symbol.asyncDispose]: () => connection.close(),
  }
  return host
}

/** What disturbs the fleet, with the upstreams that may lose calls by it. */
const faults = {
  none: [],
  roll: ['old-http', 'old-stdio'],
  'no modern upstream': ['modern'],
  'killed processes': ['old-stdio'],
} as const
type Fault = keyof typeof faults

interface Outcome {
  readonly upstream: string
  readonly id: string
  /** The faults during the call. */
  readonly faults: readonly Fault[]
  readonly text?: string
  readonly error?: Error
}

/** Each upstream is called by every user, except that few users have processes of their own. */
function upstreamOf(user: number, call: number): string {
  const others = ['modern', 'guarded', 'old-http', 'modern', 'guarded'] as const
  return user < 4 && call % 6 === 5 ? 'old-stdio' : (others[(call + user) % others.length] ?? 'modern')
}

async function book(host: Host, upstream: string, id: string): Promise<Pick<Outcome, 'text' | 'error'>> {
  host.name = id
  try {
    return { text: textOf(await host.client.callTool(`${upstream}__book`, { id })) }
  } catch (error) {
    return { error: error as Error }
  }
}

const userCount = 20
const callCount = sizeOf({ change: 240, night: 1200 })

test('calls of twenty users through three gateways that restart: a fault affects only calls of its upstream, none is crossed or doubled, and every upstream returns [GWY-001 GWY-006 GWY-007 GWY-008 GWY-012 GWY-020]', async () => {
  await using fleet = await startBookingFleet(folder, { command: process.execPath, args: [booking.path, folder] })
  const hosts = Array.from({ length: userCount }, (_, user) => openHost(`user-${user}`, fleet))
  await using greedy = openHost('greedy', fleet)
  await using patient = openHost('patient', fleet)
  const outcomes: Outcome[] = []
  let isOver = false
  let fault: Fault = 'none'
  const past: Fault[] = []
  const during = async (next: Fault, run: () => Promise<void>): Promise<void> => {
    await advance()
    fault = next
    past.push(next)
    await run()
    fault = 'none'
  }
  /** Waits until another eighth of the calls has ended. */
  const advance = async (): Promise<void> => {
    const target = outcomes.length + callCount / 8
    await expect.poll(() => outcomes.length, { interval: 5 }).toBeGreaterThanOrEqual(target)
  }
  const work = async (host: Host, user: number): Promise<void> => {
    for (let call = 0; !isOver || outcomes.length < callCount; call += 1) {
      const upstream = upstreamOf(user, call)
      const [id, first, count] = [`user-${user}-${call}`, fault, past.length]
      const outcome = await book(host, upstream, id)
      outcomes.push({ upstream, id, faults: [first, ...past.slice(count)], ...outcome })
    }
  }
  let refusals = 0
  const annoy = async (): Promise<void> => {
    while (!isOver) {
      if ((await book(greedy, 'modern', tooLargeText)).error !== undefined) refusals += 1
      await setTimeout(20)
    }
  }
  const running = Promise.all([...hosts.map(work), annoy()])

  await during('roll', fleet.roll)
  await during('no modern upstream', async () => {
    await fleet.modern.stop({ graceMs: 0 })
    await advance()
    await fleet.modern.start()
    await expect.poll(() => book(patient, 'modern', 'patient'), { interval: 100 }).toHaveProperty('text')
  })
  await during('roll', fleet.roll)
  await during('killed processes', async () => {
    for (const id of await processesOf(booking.path)) process.kill(id, 'SIGKILL')
  })
  await during('roll', fleet.roll)
  await advance()
  isOver = true
  await running

  const failed = outcomes.filter(({ error }) => error !== undefined)
  const explained = failed.filter((outcome) =>
    outcome.faults.some((each) => faults[each].some((upstream) => upstream === outcome.upstream)),
  )
  process.stdout.write(
    `${outcomes.length} calls, ${failed.length} lost: ${JSON.stringify(Object.fromEntries(countBy(failed)))}, ${refusals} refusals of one caller\n`,
  )
  expect(failed.filter((outcome) => !explained.includes(outcome))).toEqual([])
  expect(failed.filter(({ error }) => /neither response nor progress/.test(error?.message ?? ''))).toEqual([])
  const answered = outcomes.filter(({ text }) => text !== undefined)
  expect(answered.map(({ text }) => text)).toEqual(answered.map(({ id }) => id))
  const bookings = await bookingsIn(folder)
  for (const { id } of answered) expect(bookings.get(id)).toEqual([id])
  for (const { id } of failed) expect([undefined, id]).toContain(bookings.get(id)?.join())
  for (const upstream of ['modern', 'guarded', 'old-http', 'old-stdio']) {
    const again = () => book(hosts[0] ?? greedy, upstream, `again-${upstream}`)
    await expect.poll(again, { interval: 500 }).toMatchObject({ text: `again-${upstream}` })
  }
  for (const each of hosts) await each[Symbol.asyncDispose]()
  await fleet[Symbol.asyncDispose]()
  await expect.poll(() => processesOf(booking.path)).toEqual([])
})

function countBy(outcomes: readonly Outcome[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { upstream, error } of outcomes) {
    const key = `${upstream}: ${error?.message.replaceAll(/^.*the server answered /g, '').slice(0, 120)}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
