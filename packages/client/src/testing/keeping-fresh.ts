import type { LogRecord } from '@x/core'
import { type ManualClock, manualClock } from '@tooling/vitest/manual-clock'
import { type Client, createClient, type KeepFresh, type KeepFreshOptions } from '../index.ts'
import { flushPromises } from './asking.ts'
import { createMinimalTool, hostInfo, type ReceivedRequest, type Script, createToolsPage } from './scripted-exchange.ts'
import { type StreamingExchange, createStreamingExchange } from './streaming.ts'

/** Fresh for longer than a test. */
export const cacheableFields = { resultType: 'complete', ttlMs: 1_000_000, cacheScope: 'private' } as const
export const allListsFilter = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
/** What a request asks for, in one word. */
export const requestedItemOf = ({ request, params }: ReceivedRequest): unknown =>
  params.uri ?? params.cursor ?? request.method

/** A server with two pages of tools and one page of each other list. */
export const defaultScript: Script = ({ request, params }) => {
  if (request.method === 'tools/list') {
    return params.cursor === undefined
      ? createToolsPage([createMinimalTool('a')], { ttlMs: 1_000_000, nextCursor: 'two' })
      : createToolsPage([createMinimalTool('b')], { ttlMs: 1_000_000 })
  }
  if (request.method === 'prompts/list') return { ...cacheableFields, prompts: [] }
  if (request.method === 'resources/list') return { ...cacheableFields, resources: [] }
  if (request.method === 'resources/templates/list') return { ...cacheableFields, resourceTemplates: [] }
  return { ...cacheableFields, contents: [] }
}

/** A client whose cache is kept fresh, and a server whose streams the test controls. */
export interface KeepFreshFixture {
  readonly clock: ManualClock
  readonly exchange: StreamingExchange
  readonly client: Client
  readonly errors: unknown[]
  readonly keepFresh: (options?: KeepFreshOptions) => KeepFresh
  /** Advances the clock, and gives the targets of the requests that the client sent in that time. */
  readonly pass: (ms?: number) => Promise<unknown[]>
}

export function createKeepFreshFixture(script: Script = defaultScript): KeepFreshFixture {
  const clock = manualClock()
  const exchange = createStreamingExchange(script)
  const errors: unknown[] = []
  const log = ({ err }: LogRecord): void => void errors.push(err)
  const client = createClient(exchange, { ...hostInfo, runtime: clock, log })
  const keepFresh = (options: KeepFreshOptions = {}): KeepFresh => client.keepFresh(options)
  const pass = async (ms = 1000): Promise<unknown[]> => {
    const before = exchange.received.length
    await flushPromises()
    clock.advance(ms)
    await flushPromises()
    return exchange.received.slice(before).map(requestedItemOf)
  }
  return { clock, exchange, client, errors, keepFresh, pass }
}
