import { type JournalEntry, type JsonObject, type WireError, isJsonObject } from '@x/schema'
import { memoryBus, parseJsonObject } from '@x/core'
import type {
  CancelOutcome,
  ClaimedTask,
  EngineListener,
  Lease,
  LeaseState,
  NewTask,
  TaskAnswers,
  ProgressNumbers,
  TaskEnd,
  TaskEngine,
  TaskProgress,
  TaskRelease,
  TaskRow,
  TaskSuspension,
} from './engine.ts'

/** The options of {@link memoryEngine}. */
export interface MemoryEngineOptions {
  /** For how long a claim is good; 10,000 when absent. */
  readonly leaseMs?: number | undefined
  /** Maximum number of tasks that are kept, ended ones included; 10,000 when absent. */
  readonly maxTasks?: number | undefined
  /** Milliseconds since 1970; `Date.now` when absent. */
  readonly wallClock?: (() => number) | undefined
}

/** A task as it is kept: what others could hold a part of is text, so that nothing which they change changes it. */
interface StoredTask {
  readonly id: string
  readonly owner: string
  readonly caller: string
  readonly payload: string
  readonly createdAt: number
  status: TaskRow['status']
  statusMessage: string | undefined
  progress: ProgressNumbers | undefined
  updatedAt: number
  ttlMs: number | null
  requests: Map<string, string>
  readonly responses: Map<string, string>
  readonly entries: Map<string, string>
  outcome: string | undefined
  attempt: number
  failures: number
  /** When the claim runs out; undefined while nobody works on the task. */
  leasedUntil: number | undefined
  /** When it may be claimed again, if it was given back for a while. */
  pausedUntil: number
  isCancelling: boolean
}

interface MemoryStore {
  readonly tasks: Map<string, StoredTask>
  readonly listeners: Set<EngineListener>
  readonly leaseMs: number
  readonly maxTasks: number
  readonly now: () => number
}

/**
 * An engine within this process: tasks are lost with it. For tests, and for servers that may forget their tasks when
 * they stop. Several servers of one process may share it. At most `maxTasks` are kept: more are refused.
 */
export function memoryEngine(options: MemoryEngineOptions = {}): TaskEngine {
  const { leaseMs = 10_000, maxTasks = 10_000, wallClock = Date.now } = options
  const store: MemoryStore = { tasks: new Map(), listeners: new Set(), leaseMs, maxTasks, now: () => wallClock() }
  // Each function is a transaction because nothing in it waits.
  return {
    leaseMs,
    notifications: memoryBus(),
    create: async (task) => createStoredTask(store, task),
    get: async (id, owner) => {
      const stored = findStoredTask(store, id, owner)
      return stored && rowOf(stored, store.now())
    },
    answer: async (answers) => storeAnswers(store, answers),
    cancel: async (id, owner) => cancelStoredTask(store, id, owner),
    claim: async (maxClaims) => claimStoredTasks(store, maxClaims),
    heartbeat: async (leases) => leases.map((lease) => renewLease(store, lease)),
    record: async (lease, progress) =>
      writeIfLeased(store, lease, (stored) => storeProgress(stored, progress, store.now())),
    suspend: async (lease, suspension) =>
      writeUnlessCancelling(store, lease, (stored) => suspendStoredTask(store, stored, suspension)),
    release: async (lease, end) =>
      writeUnlessCancelling(store, lease, (stored) => releaseStoredTask(store, stored, end)),
    finish: async (lease, end) =>
      writeIfLeased(store, lease, (stored) => finishStoredTask(store, stored, end)) !== 'lost',
    deleteExpiredTasks: async () => deleteExpiredTasks(store),
    listen: async (listener) => {
      const registeredListener = { ...listener }
      store.listeners.add(registeredListener)
      return () => void store.listeners.delete(registeredListener)
    },
    inspect: async (id) => {
      const stored = findStoredTask(store, id)
      return stored && rowOf(stored, store.now())
    },
    ping: async () => {},
    close: async () => {},
  }
}

function createStoredTask(store: MemoryStore, task: NewTask): TaskRow | 'full' {
  const { tasks, maxTasks, now } = store
  if (tasks.has(task.id)) throw new Error(`There is a task ${JSON.stringify(task.id)} already: make another id`)
  if (tasks.size >= maxTasks) deleteExpiredTasks(store)
  if (tasks.size >= maxTasks) {
    throw new Error(
      `The memory engine keeps ${maxTasks} tasks already: raise maxTasks, or use an engine with a database`,
    )
  }
  if (countOpenTasks(store, task.caller) >= task.callerLimit) return 'full'
  const nowMs = now()
  const stored: StoredTask = {
    id: task.id,
    owner: task.owner,
    caller: task.caller,
    payload: JSON.stringify(task.payload),
    createdAt: nowMs,
    status: 'working',
    statusMessage: task.statusMessage,
    progress: undefined,
    updatedAt: nowMs,
    ttlMs: task.lifetimeMs,
    requests: new Map(),
    responses: new Map(),
    entries: new Map(),
    outcome: undefined,
    attempt: 0,
    failures: 0,
    leasedUntil: undefined,
    pausedUntil: 0,
    isCancelling: false,
  }
  tasks.set(task.id, stored)
  notifyWork(store)
  return rowOf(stored, nowMs)
}

function countOpenTasks({ tasks, now }: MemoryStore, caller: string): number {
  const nowMs = now()
  let count = 0
  for (const stored of tasks.values()) {
    if (stored.caller === caller && !isFinished(stored) && !isExpired(stored, nowMs)) count++
  }
  return count
}

function storeAnswers(
  store: MemoryStore,
  { id, owner, responses, lifetimeMs }: TaskAnswers,
): 'unknown' | 'ignored' | 'stored' | 'resumed' {
  const stored = findStoredTask(store, id, owner)
  if (stored === undefined) return 'unknown'
  const requestedEntries = Object.entries(responses).filter(([key]) => stored.requests.has(key))
  if (requestedEntries.length === 0) return 'ignored'
  for (const [key, response] of requestedEntries) {
    stored.responses.set(key, JSON.stringify(response))
    stored.requests.delete(key)
  }
  stored.updatedAt = store.now()
  if (stored.requests.size > 0) return 'stored'
  stored.status = 'working'
  extendLifetime(stored, lifetimeMs, stored.updatedAt)
  notifyWork(store)
  return 'resumed'
}

function cancelStoredTask(store: MemoryStore, id: string, owner: string): CancelOutcome {
  const stored = findStoredTask(store, id, owner)
  if (stored === undefined) return 'unknown'
  if (isFinished(stored)) return 'finished'
  if (stored.leasedUntil !== undefined && stored.leasedUntil > store.now()) {
    stored.isCancelling = true
    for (const listener of store.listeners) listener.onCancel(id)
    return 'notified'
  }
  finishStoredTask(store, stored, { outcome: { status: 'cancelled' }, lifetimeMs: 0 })
  return 'cancelled'
}

function claimStoredTasks(store: MemoryStore, maxClaims: number): readonly ClaimedTask[] {
  const claimedTasks: ClaimedTask[] = []
  const nowMs = store.now()
  for (const stored of store.tasks.values()) {
    if (claimedTasks.length >= maxClaims) break
    if (stored.status !== 'working' || stored.pausedUntil > nowMs || isExpired(stored, nowMs)) continue
    if (stored.leasedUntil !== undefined && stored.leasedUntil > nowMs) continue
    if (stored.leasedUntil !== undefined) stored.failures++
    stored.attempt++
    stored.leasedUntil = nowMs + store.leaseMs
    claimedTasks.push(claimedTaskOf(stored))
  }
  return claimedTasks
}

function renewLease(store: MemoryStore, lease: Lease): LeaseState {
  return writeIfLeased(store, lease, (stored) => {
    stored.leasedUntil = store.now() + store.leaseMs
  })
}

/** Does something for the worker that holds a lease, and for nobody else. */
function writeIfLeased(store: MemoryStore, { id, attempt }: Lease, change: (stored: StoredTask) => void): LeaseState {
  const stored = findStoredTask(store, id)
  if (stored === undefined || stored.leasedUntil === undefined || stored.attempt !== attempt) return 'lost'
  const state = stored.isCancelling ? 'cancelling' : 'owned'
  change(stored)
  return state
}

function writeUnlessCancelling(store: MemoryStore, lease: Lease, change: (stored: StoredTask) => void): LeaseState {
  return writeIfLeased(store, lease, (stored) => {
    if (!stored.isCancelling) change(stored)
  })
}

function storeProgress(
  stored: StoredTask,
  { entries, statusMessage, progress, hasProgressed }: TaskProgress,
  nowMs: number,
): void {
  for (const entry of entries) stored.entries.set(JSON.stringify([entry.part, entry.key]), JSON.stringify(entry))
  if (hasProgressed) stored.failures = 0
  const previousText = JSON.stringify([stored.statusMessage, stored.progress])
  stored.statusMessage = statusMessage ?? stored.statusMessage
  stored.progress = progress ?? stored.progress
  if (JSON.stringify([stored.statusMessage, stored.progress]) !== previousText) stored.updatedAt = nowMs
}

function suspendStoredTask({ now }: MemoryStore, stored: StoredTask, suspension: TaskSuspension): void {
  const nowMs = now()
  storeProgress(stored, suspension, nowMs)
  stored.requests = new Map(Object.entries(suspension.requests).map(([key, asked]) => [key, JSON.stringify(asked)]))
  stored.status = 'input_required'
  stored.leasedUntil = undefined
  stored.failures = 0
  stored.updatedAt = nowMs
  extendLifetime(stored, suspension.lifetimeMs, nowMs)
}

function releaseStoredTask(store: MemoryStore, stored: StoredTask, end: TaskRelease): void {
  const nowMs = store.now()
  storeProgress(stored, end, nowMs)
  stored.leasedUntil = undefined
  stored.pausedUntil = nowMs + (end.pauseMs ?? 0)
  if (end.pauseMs === undefined) notifyWork(store)
}

function finishStoredTask(
  { now }: MemoryStore,
  stored: StoredTask,
  { outcome, statusMessage, lifetimeMs }: TaskEnd,
): void {
  stored.status = outcome.status
  stored.outcome = JSON.stringify(outcome)
  stored.statusMessage = statusMessage
  stored.requests = new Map()
  stored.responses.clear()
  stored.entries.clear()
  stored.leasedUntil = undefined
  stored.isCancelling = false
  stored.updatedAt = now()
  extendLifetime(stored, lifetimeMs, stored.updatedAt)
}

function deleteExpiredTasks({ tasks, now }: MemoryStore): number {
  const nowMs = now()
  const expiredTasks = [...tasks.values()].filter((stored) => isExpired(stored, nowMs))
  for (const { id } of expiredTasks) tasks.delete(id)
  return expiredTasks.length
}

function notifyWork({ listeners }: MemoryStore): void {
  for (const listener of listeners) listener.onWork()
}

function findStoredTask({ tasks, now }: MemoryStore, id: string, owner?: string): StoredTask | undefined {
  const stored = tasks.get(id)
  if (stored === undefined || isExpired(stored, now())) return undefined
  return owner === undefined || stored.owner === owner ? stored : undefined
}

function isFinished({ status }: StoredTask): boolean {
  return status !== 'working' && status !== 'input_required'
}

function isExpired({ createdAt, ttlMs }: StoredTask, nowMs: number): boolean {
  return ttlMs !== null && nowMs >= createdAt + ttlMs
}

/** Keeps a task for longer, and never for less than was said before. */
function extendLifetime(stored: StoredTask, lifetimeMs: number | null, nowMs: number): void {
  if (stored.ttlMs === null) return
  stored.ttlMs = lifetimeMs === null ? null : Math.max(stored.ttlMs, nowMs - stored.createdAt + lifetimeMs)
}

function rowOf(stored: StoredTask, nowMs: number): TaskRow {
  const { id, status, statusMessage, progress, createdAt, updatedAt, ttlMs } = stored
  const outcome = stored.outcome === undefined ? {} : parseStoredObject(stored.outcome)
  const { result, error } = outcome
  return {
    id,
    status,
    statusMessage,
    progress: progress && { ...progress },
    createdAt,
    ageMs: nowMs - createdAt,
    updatedAt,
    ttlMs,
    requests: parseStoredObjects(stored.requests),
    result: isJsonObject(result) ? result : undefined,
    // It is what `finish` was given, as text in between.
    error: isJsonObject(error) ? (error as unknown as WireError) : undefined,
  }
}

function claimedTaskOf(stored: StoredTask): ClaimedTask {
  const { id, attempt, failures, payload, entries, responses, isCancelling } = stored
  return {
    id,
    attempt,
    failures,
    payload: parseStoredObject(payload),
    // Each was an entry before it was text.
    entries: Array.from(entries.values(), (text) => JSON.parse(text) as JournalEntry),
    responses: parseStoredObjects(responses),
    isCancelling,
  }
}

function parseStoredObjects(textsByKey: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(Array.from(textsByKey, ([key, text]) => [key, parseStoredObject(text)]))
}

function parseStoredObject(text: string): JsonObject {
  return parseJsonObject(text) ?? {}
}
