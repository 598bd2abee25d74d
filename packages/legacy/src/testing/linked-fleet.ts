import { randomBytes } from 'node:crypto'
import { type ChangeBus, type McpServer, memoryBus, type Tool, tool } from '@x/server'
import { memoryStore, sealedState, type StateStore } from '@x/state-codec'
import { createGate, type Gate } from '@tooling/vitest/gate'
import { httpHandler } from '@x/transport-http'
import type { LegacyOptions } from '../server/session/options.ts'
import { createPairTool, greetTool, nameSchema, elicitAndSampleTool } from './asking.ts'
import { type ScriptedClient, createScriptedClient } from './scripted-client.ts'
import { createLegacyServer } from './serve-legacy.ts'

function createTestBus(shared: ChangeBus): Omit<LinkedInstance, 'server'> & { readonly bus: ChangeBus } {
  let state: 'runs' | 'frozen' | 'dead' = 'runs'
  const waiting: (() => void)[] = []
  const listeners: (() => void)[] = []
  const run = (deliver: () => void): void => {
    if (state === 'runs') deliver()
    else if (state === 'frozen') waiting.push(deliver)
  }
  const bus: ChangeBus = {
    publish: (change) => new Promise((resolve, reject) => run(() => void shared.publish(change).then(resolve, reject))),
    listen: (listener) => {
      listeners.push(() => listener.onGap())
      return shared.listen({
        onChange: (change) => run(() => listener.onChange(change)),
        onGap: () => run(() => listener.onGap()),
      })
    },
  }
  return {
    bus,
    reportGap() {
      for (const notifyGap of listeners) notifyGap()
    },
    kill() {
      state = 'dead'
    },
    freeze() {
      state = 'frozen'
    },
    thaw() {
      state = 'runs'
      for (const deliver of waiting.splice(0)) deliver()
    },
  }
}

/** One instance, which a test can kill or freeze. */
export interface LinkedInstance {
  readonly server: McpServer
  /** Cuts the instance off from the bus, as if its process was killed. */
  kill(): void
  /** Pauses the instance's messages, as if its process was suspended. */
  freeze(): void
  thaw(): void
  reportGap(): void
}

/** All instances' store, which a test can make unreachable or empty. */
export interface FaultyStore extends StateStore {
  isReachable: boolean
  /** True makes the store reject each write of a round after the write had its effect. */
  rejectsStoredRounds: boolean
  /** Called after each read, whose result arrives when the promise resolves. */
  afterRead: (key: string) => Promise<void>
  /** Operations so far. */
  operationCount: number
  /** The returned function brings back the current entries, like a fail-over that loses the writes since. */
  snapshot(): () => void
  /** Counts entries whose keys begin with a prefix. */
  count(prefix: string): number
}

function createFaultyStore(): FaultyStore {
  /** What was added, for snapshots. */
  let entries = new Map<string, { readonly value: string; readonly ttlMs: number }>()
  let store = memoryStore({ maxEntriesPerOwner: 10_000 })
  const run = async <T>(operation: (current: StateStore) => Promise<T>): Promise<T> => {
    faultyStore.operationCount += 1
    if (!faultyStore.isReachable) throw new Error('The store is unreachable')
    return operation(store)
  }
  const faultyStore: FaultyStore = {
    isReachable: true,
    rejectsStoredRounds: false,
    afterRead: async () => {},
    operationCount: 0,
    count: (prefix) => [...entries.keys()].filter((key) => key.startsWith(prefix)).length,
    snapshot() {
      const kept = new Map(entries)
      return () => {
        entries = new Map(kept)
        store = memoryStore({ maxEntriesPerOwner: 10_000 })
        for (const [key, { value, ttlMs }] of kept) void store.add(key, value, ttlMs)
      }
    },
    add: (key, value, ttlMs) =>
      run(async (current) => {
        const isAdded = await current.add(key, value, ttlMs)
        if (isAdded) entries.set(key, { value, ttlMs })
        if (faultyStore.rejectsStoredRounds && key.startsWith('legacy:call:')) throw new Error('The response was lost')
        return isAdded
      }),
    get: (key) =>
      run(async (current) => {
        const value = await current.get(key)
        await faultyStore.afterRead(key)
        return value
      }),
    delete: (key) =>
      run(async (current) => {
        entries.delete(key)
        await current.delete(key)
      }),
  }
  return faultyStore
}

/** Three instances, of which the test chooses the one that gets the next requests. */
export interface LinkedServers {
  readonly client: ScriptedClient
  /** Steps that tools have done, in order. */
  readonly steps: readonly string[]
  readonly errors: readonly unknown[]
  readonly store: FaultyStore
  /** Notifies every instance that messages may have been lost. */
  reportGap(): void
  /** Long-running tools wait here. */
  readonly gate: Gate
  getInstance(place: number): LinkedInstance
  createClient(): ScriptedClient
}

/** Instances that share keys, a store and a bus. */
export function createLinkedServers(options: LegacyOptions = {}): LinkedServers {
  const state = sealedState({ keys: [randomBytes(32)] })
  const [shared, store] = [memoryBus(), createFaultyStore()]
  const steps: string[] = []
  const errors: unknown[] = []
  const gate = createGate()
  const tools = toolsOf(steps, gate)
  const start = () => {
    const bus = createTestBus(shared)
    const server = createLegacyServer(
      {
        tools,
        state,
        strictReplay: false,
        subscriptions: { bus: bus.bus },
        log: ({ err }) => errors.push(err),
      },
      { store, ...options },
    )
    return { ...bus, server, handle: httpHandler(server) }
  }
  const instances = [start(), start(), start()]
  let chosen = 0
  const client = createScriptedClient(
    (request) => instances[chosen]?.handle(request) ?? Promise.reject(new Error('gone')),
  )
  return {
    client,
    steps,
    errors,
    store,
    reportGap() {
      for (const { reportGap } of instances) reportGap()
    },
    gate,
    getInstance(place: number) {
      chosen = place
      const instance = instances[place]
      if (instance === undefined) throw new RangeError('no such instance')
      return instance
    },
    createClient: () =>
      createScriptedClient((request) => instances[chosen]?.handle(request) ?? Promise.reject(new Error('gone'))),
  }
}

function toolsOf(steps: string[], gate: Gate): Tool[] {
  return [
    greetTool,
    createPairTool(steps),
    elicitAndSampleTool,
    tool('slow', {
      description: 'Works until the gate opens',
      run: async (_, ctx) => {
        ctx.progress(1)
        await gate.opened
        ctx.progress(2)
        return 'done'
      },
    }),
    tool('work', {
      description: 'Asks, and works until the gate opens',
      run: async (_, ctx) => {
        await ctx.elicit('name', { message: 'Name?', schema: nameSchema })
        steps.push('begun')
        await gate.opened
        return 'done'
      },
    }),
    tool('talk', {
      description: 'Logs at two levels',
      run: async (_, ctx) => {
        ctx.log('debug', 'quiet')
        ctx.log('error', 'loud')
        return 'talked'
      },
    }),
  ]
}
