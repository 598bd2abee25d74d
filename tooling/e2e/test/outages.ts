import { setTimeout } from 'node:timers/promises'
import { createClient } from '@x/client'
import { sessionsClient } from '@x/sessions/client'
import { connectHttp } from '@x/transport-http/client'
import { expect } from 'vitest'
import { textOf } from './asking.ts'

/** The load of a run: clients, each with calls that ask twice and a session with changes. */
export interface OutageLoad {
  readonly url: string
  readonly headers: (caller: string) => Record<string, string> | Promise<Record<string, string>>
  /** The minimum numbers of calls and changes of each client. */
  readonly calls: number
  readonly changes: number
  /** True if clients repeat requests that no instance has started, as a user would. */
  readonly repeatsUnstarted?: boolean | undefined
  /** False while faults are injected. Clients continue until it is true. */
  readonly isOver: () => boolean
}

/** The outcomes of one client. */
export interface ClientOutcome {
  /** The name of each call, with the text of its result or error. */
  readonly calls: readonly (readonly [name: string, text: string])[]
  /** The texts of the changes in order. */
  readonly changes: readonly string[]
  /** The number of repeated requests. */
  readonly repetitions: number
}

/** The open clients of a run. */
export interface OutageClients extends AsyncDisposable {
  run(): Promise<readonly ClientOutcome[]>
  /** Resolves when a call and a change of each client, begun from now on or before, have ended. */
  served(): Promise<void>
}

/** Opens the clients of a run before the first fault. */
export async function openOutageClients(load: OutageLoad, count: number): Promise<OutageClients> {
  const clients = await Promise.all(Array.from({ length: count }, (_, index) => openClient(load, `caller-${index}`)))
  return {
    run: () => Promise.all(clients.map(({ run }) => run())),
    served: async () => {
      const earlier = clients.map(({ ended }) => ended())
      const areServed = (): boolean =>
        clients.every(({ ended }, at) => ended().every((number, kind) => number > (earlier[at]?.[kind] ?? 0)))
      await expect.poll(areServed).toBe(true)
    },
    async [Symbol.asyncDispose]() {
      for (const { close } of clients) await close()
    },
  }
}

async function openClient(load: OutageLoad, caller: string) {
  const connection = connectHttp(load.url, { headers: () => load.headers(caller) })
  const client = createClient(connection, {
    name: caller,
    version: '1.0.0',
    elicit: ({ message }) => ({ action: 'accept', content: { color: answerTo(message) } }),
    extensions: [sessionsClient({ user: caller })],
  })
  const session = await client.sessions.create()
  const [calls, changes]: [[string, string][], string[]] = [[], []]
  let repetitions = 0
  const textOrFailure = async (call: () => ReturnType<typeof client.callTool>): Promise<string> => {
    const text = await call().then(textOf, (error: unknown) => `failed: ${String(error)}`)
    if (load.repeatsUnstarted !== true || !text.includes('it has not begun this request')) return text
    repetitions += 1
    return textOrFailure(call)
  }
  const makeCalls = async (): Promise<void> => {
    for (let index = 0; index < load.calls || !load.isOver(); index += 1) {
      const name = `${caller}.${index}`
      calls.push([name, await textOrFailure(() => client.callTool('pair', { name }))])
    }
  }
  const makeChanges = async (): Promise<void> => {
    while (changes.length < load.changes || !load.isOver())
      changes.push(await textOrFailure(() => session.callTool('count')))
  }
  return {
    ended: () => [calls.length, changes.length],
    run: async (): Promise<ClientOutcome> => {
      await Promise.all([makeCalls(), makeChanges()])
      return { calls, changes, repetitions }
    },
    close: () => connection.close(),
  }
}

/** Returns the answer of every client to a question. */
export function answerTo(message: string): string {
  return `<${message}>`
}

const outageMs = 1500

/** A repeated outage: functions that begin and end it, and their number. */
export interface RepeatedOutage {
  readonly count: number
  readonly begin: () => Promise<void>
  readonly end: () => Promise<void>
}

/** Begins and ends an outage of 1.5 s repeatedly. Before, between and after the outages all clients are served. */
export async function repeatOutage({ count, begin, end }: RepeatedOutage, { served }: OutageClients): Promise<void> {
  for (let outage = 0; outage < count; outage += 1) {
    await served()
    await begin()
    await setTimeout(outageMs)
    await end()
  }
  await served()
}
