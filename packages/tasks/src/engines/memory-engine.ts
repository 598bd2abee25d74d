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
  /** For how long a claim is good. Default: 10,000. */
  readonly leaseMs?: number | undefined
  /** Maximum number of tasks that are kept, ended ones included. Default: 10,000. */
  readonly maxTasks?: number | undefined
  /** Milliseconds since 1970. `Date.now` when absent. */
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
  readonly hasFixedLifetime: boolean
  requests: Map<string, string>
  readonly responses: Map<string, string>
  readonly entries: Map<string, string>
  outcome: string | undefined
  attempt: number
  failures: number
  /** When the claim runs out, undefined while no worker has the task. */
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
      const task = findStoredTask(store, id, owner)
      return task && toTaskRow(task, store.now())
    },
    answer: async (answers) => storeAnswers(store, answers),
    cancel: async (id, owner) => cancelStoredTask(store, id, owner),
    claim: async (maxClaims) => claimStoredTasks(store, maxClaims),
    heartbeat: async (leases) => leases.map((lease) => renewLease(store, lease)),
    record: async (lease, progress) =>
      writeIfLeased(store, lease, (task) => storeProgress(task, progress, store.now())),
    suspend: async (lease, suspension) =>
      writeUnlessCancelling(store, lease, (task) => suspendStoredTask(store, task, suspension)),
    release: async (lease, taskRelease) =>
      writeUnlessCancelling(store, lease, (task) => releaseStoredTask(store, task, taskRelease)),
    finish: async (lease, taskEnd) =>
      writeIfLeased(store, lease, (task) => finishStoredTask(store, task, taskEnd)) !== 'lost',
    deleteExpiredTasks: async () => deleteExpiredTasks(store),
    listen: async (listener) => {
      const registeredListener = { ...listener }
      store.listeners.add(registeredListener)
      return () => void store.listeners.delete(registeredListener)
    },
    inspect: async (id) => {
      const task = findStoredTask(store, id)
      return task && toTaskRow(task, store.now())
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
  const storedTask: StoredTask = {
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
    hasFixedLifetime: task.hasFixedLifetime === true,
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
  tasks.set(task.id, storedTask)
  notifyWork(store)
  return toTaskRow(storedTask, nowMs)
}

function countOpenTasks({ tasks, now }: MemoryStore, caller: string): number {
  const nowMs = now()
  let count = 0
  for (const task of tasks.values()) {
    if (task.caller === caller && !isFinished(task) && !isExpired(task, nowMs)) count++
  }
  return count
}

function storeAnswers(
  store: MemoryStore,
  { id, owner, responses, lifetimeMs }: TaskAnswers,
): 'unknown' | 'ignored' | 'stored' | 'resumed' {
  const task = findStoredTask(store, id, owner)
  if (task === undefined) return 'unknown'
  const requestedEntries = Object.entries(responses).filter(([key]) => task.requests.has(key))
  if (requestedEntries.length === 0) return 'ignored'
  for (const [key, response] of requestedEntries) {
    task.responses.set(key, JSON.stringify(response))
    task.requests.delete(key)
  }
  task.updatedAt = store.now()
  if (task.requests.size > 0) return 'stored'
  task.status = 'working'
  extendLifetime(task, lifetimeMs, task.updatedAt)
  notifyWork(store)
  return 'resumed'
}

function cancelStoredTask(store: MemoryStore, id: string, owner: string): CancelOutcome {
  const task = findStoredTask(store, id, owner)
  if (task === undefined) return 'unknown'
  if (isFinished(task)) return 'finished'
  if (task.leasedUntil !== undefined && task.leasedUntil > store.now()) {
    task.isCancelling = true
    for (const listener of store.listeners) listener.onCancel(id)
    return 'notified'
  }
  finishStoredTask(store, task, { outcome: { status: 'cancelled' }, lifetimeMs: 0 })
  return 'cancelled'
}

function claimStoredTasks(store: MemoryStore, maxClaims: number): readonly ClaimedTask[] {
  const claimedTasks: ClaimedTask[] = []
  const nowMs = store.now()
  for (const task of store.tasks.values()) {
    if (claimedTasks.length >= maxClaims) break
    if (task.status !== 'working' || task.pausedUntil > nowMs || isExpired(task, nowMs)) continue
    if (task.leasedUntil !== undefined && task.leasedUntil > nowMs) continue
    if (task.leasedUntil !== undefined) task.failures++
    task.attempt++
    task.leasedUntil = nowMs + store.leaseMs
    claimedTasks.push(toClaimedTask(task))
  }
  return claimedTasks
}

function renewLease(store: MemoryStore, lease: Lease): LeaseState {
  return writeIfLeased(store, lease, (task) => {
    task.leasedUntil = store.now() + store.leaseMs
  })
}

/** Does something for the worker that holds a lease, and for no other worker. */
function writeIfLeased(store: MemoryStore, { id, attempt }: Lease, update: (task: StoredTask) => void): LeaseState {
  const task = findStoredTask(store, id)
  if (task === undefined || task.leasedUntil === undefined || task.attempt !== attempt) return 'lost'
  const state = task.isCancelling ? 'cancelling' : 'owned'
  update(task)
  return state
}

function writeUnlessCancelling(store: MemoryStore, lease: Lease, update: (task: StoredTask) => void): LeaseState {
  return writeIfLeased(store, lease, (task) => {
    if (!task.isCancelling) update(task)
  })
}

function storeProgress(
  task: StoredTask,
  { entries, statusMessage, progress, hasProgressed }: TaskProgress,
  nowMs: number,
): void {
  for (const entry of entries) task.entries.set(JSON.stringify([entry.member, entry.key]), JSON.stringify(entry))
  if (hasProgressed) task.failures = 0
  const previousText = JSON.stringify([task.statusMessage, task.progress])
  task.statusMessage = statusMessage ?? task.statusMessage
  task.progress = progress ?? task.progress
  if (JSON.stringify([task.statusMessage, task.progress]) !== previousText) task.updatedAt = nowMs
}

function suspendStoredTask({ now }: MemoryStore, task: StoredTask, suspension: TaskSuspension): void {
  const nowMs = now()
  storeProgress(task, suspension, nowMs)
  task.requests = new Map(Object.entries(suspension.requests).map(([key, asked]) => [key, JSON.stringify(asked)]))
  task.status = 'input_required'
  task.leasedUntil = undefined
  task.failures = 0
  task.updatedAt = nowMs
  extendLifetime(task, suspension.lifetimeMs, nowMs)
}

function releaseStoredTask(store: MemoryStore, task: StoredTask, taskRelease: TaskRelease): void {
  const nowMs = store.now()
  storeProgress(task, taskRelease, nowMs)
  task.leasedUntil = undefined
  task.pausedUntil = nowMs + (taskRelease.pauseMs ?? 0)
  if (taskRelease.pauseMs === undefined) notifyWork(store)
}

function finishStoredTask(
  { now }: MemoryStore,
  task: StoredTask,
  { outcome, statusMessage, lifetimeMs }: TaskEnd,
): void {
  task.status = outcome.status
  task.outcome = JSON.stringify(outcome)
  task.statusMessage = statusMessage
  task.requests = new Map()
  task.responses.clear()
  task.entries.clear()
  task.leasedUntil = undefined
  task.isCancelling = false
  task.updatedAt = now()
  extendLifetime(task, lifetimeMs, task.updatedAt)
}

function deleteExpiredTasks({ tasks, now }: MemoryStore): number {
  const nowMs = now()
  const expiredTasks = [...tasks.values()].filter((task) => isExpired(task, nowMs))
  for (const { id } of expiredTasks) tasks.delete(id)
  return expiredTasks.length
}

function notifyWork({ listeners }: MemoryStore): void {
  for (const listener of listeners) listener.onWork()
}

function findStoredTask({ tasks, now }: MemoryStore, id: string, owner?: string): StoredTask | undefined {
  const task = tasks.get(id)
  if (task === undefined || isExpired(task, now())) return undefined
  return owner === undefined || task.owner === owner ? task : undefined
}

function isFinished({ status }: StoredTask): boolean {
  return status !== 'working' && status !== 'input_required'
}

function isExpired({ createdAt, ttlMs }: StoredTask, nowMs: number): boolean {
  return ttlMs !== null && nowMs >= createdAt + ttlMs
}

/** Prolongs the lifetime of a task, and never shortens it. */
function extendLifetime(task: StoredTask, lifetimeMs: number | null, nowMs: number): void {
  if (task.ttlMs === null || task.hasFixedLifetime) return
  task.ttlMs = lifetimeMs === null ? null : Math.max(task.ttlMs, nowMs - task.createdAt + lifetimeMs)
}

function toTaskRow(task: StoredTask, nowMs: number): TaskRow {
  const { id, status, statusMessage, progress, createdAt, updatedAt, ttlMs } = task
  const { result, error } = task.outcome === undefined ? {} : parseStoredObject(task.outcome)
  return {
    id,
    status,
    statusMessage,
    progress: progress && { ...progress },
    createdAt,
    ageMs: nowMs - createdAt,
    updatedAt,
    ttlMs,
    requests: parseStoredObjects(task.requests),
    result: isJsonObject(result) ? result : undefined,
    // It is what `finish` was given, as text in between.
    error: isJsonObject(error) ? (error as unknown as WireError) : undefined,
  }
}

function toClaimedTask(task: StoredTask): ClaimedTask {
  const { id, attempt, failures, payload, entries, responses, isCancelling } = task
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
