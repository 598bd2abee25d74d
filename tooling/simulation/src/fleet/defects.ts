import { type ChangeBus, type Ledger, LimitError } from '@x/core'
import { limitErrorToMcp, type Middleware } from '@x/exchange'
import type { StateStore } from '@x/state-codec'
import type { ClaimedTask, Lease, TaskEngine } from '@x/tasks'
import type { Invariant } from './invariants/violations.ts'

/** Wrappers that inject a defect, for tests of the simulation. */
export interface Defects {
  readonly engine?: (engine: TaskEngine) => TaskEngine
  readonly store?: (store: StateStore) => StateStore
  readonly breakLedger?: (ledger: Ledger) => void
  readonly bus?: (bus: ChangeBus) => ChangeBus
  readonly middleware?: Middleware
  readonly createPicker?: () => (items: readonly string[]) => readonly string[]
}

/** A defect, and the invariants that it breaks. */
interface InjectedDefect extends Defects {
  readonly breaks: readonly Invariant[]
}

/** The defects by name. */
export const defects = {
  'no-fence': { breaks: ['leases'], engine: omitFence },
  'lost-record': { breaks: ['journal'], engine: loseRecords },
  'claim-given-twice': { breaks: ['leases'], engine: giveClaimsTwice },
  'crossed-answers': { breaks: ['answers'], engine: crossAnswers },
  'ignored-owners': { breaks: ['owners'], engine: ignoreOwners },
  'leaking-quota': { breaks: ['quotas'], breakLedger: leakQuota },
  'round-resumed-twice': { breaks: ['rounds'], store: grantEveryRound },
  'missed-change': { breaks: ['changes'], bus: loseChanges },
  'mixed-sessions': { breaks: ['sessions'], createPicker: mixItems },
  'shed-after-effect': { breaks: ['rounds'], middleware: shedAfterEffect },
} as const satisfies Record<string, InjectedDefect>

/** The name of a defect. */
export type DefectName = keyof typeof defects

/** Returns a function that returns true at each `interval`th call. */
function every(interval: number): () => boolean {
  let count = 0
  return () => ++count % interval === 0
}

/** Writes with an old lease succeed, as if the store did not compare leases. */
function omitFence(engine: TaskEngine): TaskEngine {
  const current = new Map<string, Lease>()
  const renew = (lease: Lease): Lease => current.get(lease.id) ?? lease
  return {
    ...engine,
    claim: async (request) => {
      const claims = await engine.claim(request)
      for (const { id, attempt, token } of claims.tasks) current.set(id, { id, attempt, token })
      return claims
    },
    record: (lease, progress) => engine.record(renew(lease), progress),
    suspend: (lease, suspension) => engine.suspend(renew(lease), suspension),
    release: (lease, taskRelease) => engine.release(renew(lease), taskRelease),
    finish: (lease, taskEnd) => engine.finish(renew(lease), taskEnd),
  }
}

/** Some writes lose the entries of the journal, although the engine confirms them. */
function loseRecords(engine: TaskEngine): TaskEngine {
  const isLost = every(5)
  return {
    ...engine,
    record: (lease, progress) => engine.record(lease, isLost() ? { ...progress, entries: [] } : progress),
  }
}

/** Some claims return a task that another worker has just claimed. */
function giveClaimsTwice(engine: TaskEngine): TaskEngine {
  const isDoubled = every(4)
  let lastTask: ClaimedTask | undefined
  return {
    ...engine,
    claim: async (request) => {
      const claims = await engine.claim(request)
      const doubled = claims.tasks.length === 0 && lastTask !== undefined && isDoubled() ? [lastTask] : []
      lastTask = claims.tasks[0] ?? lastTask
      return { ...claims, tasks: [...claims.tasks, ...doubled] }
    },
  }
}

/** Some tasks receive the answers that another task received before. */
function crossAnswers(engine: TaskEngine): TaskEngine {
  const isCrossed = every(4)
  let last: Parameters<TaskEngine['answer']>[0]['responses'] = {}
  return {
    ...engine,
    answer: (answers) => {
      const { responses } = answers
      const other = last
      last = responses
      const crossed = Object.entries(responses).map(([key, value]) => [key, other[key] ?? value])
      return engine.answer(isCrossed() ? { ...answers, responses: Object.fromEntries(crossed) } : answers)
    },
  }
}

/** A caller can read the tasks of every other caller. */
function ignoreOwners(engine: TaskEngine): TaskEngine {
  return {
    ...engine,
    get: async (id, owner) => engine.get(id, (await engine.inspect(id))?.owner ?? owner),
  }
}

/** Some calls are never released from the ledger. */
function leakQuota(ledger: Ledger): void {
  const isLeaked = every(20)
  const { take } = ledger
  Object.assign(ledger, {
    take: (...args: Parameters<Ledger['take']>) => {
      const release = take(...args)
      return isLeaked() ? () => {} : release
    },
  })
}

/** The store confirms the claim of each round of an older client, but does not store it. */
function grantEveryRound(store: StateStore): StateStore {
  const { forOwner } = store
  return {
    ...store,
    add: async (key, ...args) => key.startsWith('legacy:run:') || store.add(key, ...args),
    ...(forOwner !== undefined && { forOwner: (owner) => grantEveryRound(forOwner(owner)) }),
  }
}

/** The bus confirms changes of resources, but does not deliver them. */
function loseChanges(bus: ChangeBus): ChangeBus {
  return { ...bus, publish: async (change) => (change.topic.startsWith('resource:') ? undefined : bus.publish(change)) }
}

/** Some calls of a session read the items of the session that was used before. */
function mixItems(): (items: readonly string[]) => readonly string[] {
  const isMixed = every(3)
  let last: readonly string[] = []
  return (items) => {
    const picked = isMixed() ? last : items
    last = items
    return picked
  }
}

/** Some calls are rejected for load after their effects. */
function shedAfterEffect(next: Parameters<Middleware>[0]): ReturnType<Middleware> {
  const isShed = every(4)
  return async (request, call) => {
    const response = await next(request, call)
    if (request.method !== 'tools/call' || !isShed()) return response
    throw limitErrorToMcp(new LimitError('calls', { scope: 'all', max: 1 }))
  }
}
