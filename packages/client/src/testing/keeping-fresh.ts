import { type ManualClock, manualClock } from '@tooling/vitest/manual-clock'
import { type Client, createClient, type KeepFresh, type KeepFreshOptions } from '../index.ts'
import { settled } from './asking.ts'
import { bareTool, host, type Received, type Script, toolsPage } from './scripted-exchange.ts'
import { type StreamingExchange, streaming } from './streaming.ts'

/** A result that is fresh for long. */
export const hints = { resultType: 'complete', ttlMs: 1_000_000, cacheScope: 'private' } as const
/** The filter of all lists. */
export const allLists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
/** What a request is for, in one word. */
export const asked = ({ request, params }: Received): unknown => params.uri ?? params.cursor ?? request.method

/** A server with two pages of tools and one of everything else. */
export const answer: Script = ({ request, params }) => {
  if (request.method === 'tools/list') {
    return params.cursor === undefined
      ? toolsPage([bareTool('a')], { ttlMs: 1_000_000, nextCursor: 'two' })
      : toolsPage([bareTool('b')], { ttlMs: 1_000_000 })
  }
  if (request.method === 'prompts/list') return { ...hints, prompts: [] }
  if (request.method === 'resources/list') return { ...hints, resources: [] }
  if (request.method === 'resources/templates/list') return { ...hints, resourceTemplates: [] }
  return { ...hints, contents: [] }
}

/** A client whose cache is to be kept fresh, and a server whose streams the test holds. */
export interface KeepingFresh {
  readonly clock: ManualClock
  readonly exchange: StreamingExchange
  readonly client: Client
  /** What was told of. */
  readonly errors: unknown[]
  readonly keepFresh: (options?: KeepFreshOptions) => KeepFresh
  /** Lets everything happen that happens by itself within a time, and gives what was asked for. */
  readonly pass: (ms?: number) => Promise<unknown[]>
}

/** Makes a {@link KeepingFresh}. */
export function keepingFresh(script: Script = answer): KeepingFresh {
  const clock = manualClock()
  const exchange = streaming(script)
  const client = createClient(exchange, { ...host, runtime: clock })
  const errors: unknown[] = []
  const keepFresh = (options: KeepFreshOptions = {}): KeepFresh =>
    client.keepFresh({ onError: (error) => void errors.push(error), ...options })
  const pass = async (ms = 1000): Promise<unknown[]> => {
    const before = exchange.received.length
    await settled()
    clock.advance(ms)
    await settled()
    return exchange.received.slice(before).map(asked)
  }
  return { clock, exchange, client, errors, keepFresh, pass }
}
