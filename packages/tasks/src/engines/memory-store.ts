import { LimitError, parseJsonObject } from '@x/core'
import type { JournalEntry } from '@x/exchange'
import { type JsonObject, type WireError, isJsonObject } from '@x/schema'
import type {
  ClaimedTask,
  EngineListener,
  InspectedTask,
  Lease,
  LeaseState,
  NewTask,
  OpenTaskState,
  ProgressNumbers,
  TaskRow,
} from './engine.ts'

/** A stored task. Its JSON values are stored as text, so that callers get copies. */
export interface StoredTask {
  readonly id: string
  readonly owner: string
  readonly caller: string
  readonly tool: string
  readonly createdAt: number
  readonly hasFixedLifetime: boolean
  payload: string
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
  /**
   * The time at which the task became ready, or at which its pause or lease ends. Undefined if the task waits for its
   * client or has ended.
   */
  dueAt: number | undefined
  /** The token of the current claim. */
  token: string | undefined
  worker: string | undefined
  isCancelling: boolean
}

/** The state that the functions of an engine in memory share. */
export interface MemoryStore {
  readonly tasks: Map<string, StoredTask>
  readonly tasksByCaller: Map<string, Set<StoredTask>>
  /** The tasks that are ready, paused or claimed. */
  readonly dueTasks: Set<StoredTask>
  /** A time before which no task expires, in milliseconds since 1970. */
  earliestExpiry: number
  readonly listeners: Set<EngineListener>
  readonly leaseMs: number
  readonly maxTasks: number
  readonly now: () => number
}

/**
 * Stores a new task. If the caller has reached its limit, its oldest ended task is deleted. If the store is full, the
 * caller with the most tasks loses its oldest ended task. Without an ended task, returns `full` for the limit of the
 * caller, and throws `LimitError` for the limit of the store.
 */
export function createStoredTask(store: MemoryStore, task: NewTask): TaskRow | 'full' {
  const { tasks, maxTasks, now } = store
  const nowMs = now()
  const ownTasks = store.tasksByCaller.get(task.caller) ?? new Set()
  if (ownTasks.size >= task.callerLimit) {
    const liveTasks = [...ownTasks].filter((ownTask) => !isExpired(ownTask, nowMs))
    if (liveTasks.length >= task.callerLimit && !deleteOldestEnded(store, liveTasks)) return 'full'
  }
  // An engine with a database finds a known id when it inserts the row, so after it has made room.
  if (tasks.has(task.id)) throw new Error(`There is a task ${JSON.stringify(task.id)} already: create another id`)
  if (tasks.size >= maxTasks && deleteExpiredTasks(store) === 0 && !deleteOfGreediestCaller(store)) {
    const advice = 'raise maxTasks of memoryEngine, or use an engine with a database'
    throw new LimitError('tasks', { scope: 'all', max: maxTasks, advice })
  }
  const storedTask: StoredTask = {
    id: task.id,
    owner: task.owner,
    caller: task.caller,
    tool: task.tool,
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
    dueAt: undefined,
    token: undefined,
    worker: undefined,
    isCancelling: false,
  }
  tasks.set(task.id, storedTask)
  // A deletion above may have removed the set from the map, together with its last task.
  store.tasksByCaller.set(task.caller, ownTasks.add(storedTask))
  store.earliestExpiry = Math.min(store.earliestExpiry, expiryOf(storedTask))
  setDueAt(store, storedTask, nowMs)
  notifyWork(store)
  return toTaskRow(storedTask, nowMs)
}

function deleteOfGreediestCaller(store: MemoryStore): boolean {
  return [...store.tasksByCaller.values()]
    .toSorted((one, other) => other.size - one.size)
    .some((callerTasks) => deleteOldestEnded(store, [...callerTasks]))
}

function deleteOldestEnded(store: MemoryStore, candidates: readonly StoredTask[]): boolean {
  const [oldest] = candidates.filter(isFinished).toSorted((one, other) => one.updatedAt - other.updatedAt)
  if (oldest !== undefined) deleteStoredTask(store, oldest)
  return oldest !== undefined
}

function deleteStoredTask({ tasks, tasksByCaller, dueTasks }: MemoryStore, task: StoredTask): void {
  tasks.delete(task.id)
  dueTasks.delete(task)
  const callerTasks = tasksByCaller.get(task.caller)
  callerTasks?.delete(task)
  if (callerTasks?.size === 0) tasksByCaller.delete(task.caller)
}

/** Deletes the tasks whose lifetime has ended, and returns the number of deleted tasks. */
export function deleteExpiredTasks(store: MemoryStore): number {
  const nowMs = store.now()
  if (nowMs < store.earliestExpiry) return 0
  const expiredTasks = [...store.tasks.values()].filter((task) => isExpired(task, nowMs))
  for (const task of expiredTasks) deleteStoredTask(store, task)
  // A later change of a task can only prolong its lifetime, so this time stays a lower bound.
  store.earliestExpiry = Array.from(store.tasks.values(), expiryOf).reduce(
    (earliest, expiry) => Math.min(earliest, expiry),
    Number.POSITIVE_INFINITY,
  )
  return expiredTasks.length
}

/** Sets the time at which a task is due. With undefined, the task is never due. */
export function setDueAt({ dueTasks }: MemoryStore, task: StoredTask, dueAt: number | undefined): void {
  task.dueAt = dueAt
  if (dueAt === undefined) dueTasks.delete(task)
  else dueTasks.add(task)
}

/** Notifies every worker that a task has become ready. */
export function notifyWork({ listeners }: MemoryStore): void {
  for (const listener of listeners) listener.onWork()
}

/** Finds a task that has not expired. With an owner, only a task of that owner. */
export function findStoredTask({ tasks, now }: MemoryStore, id: string, owner?: string): StoredTask | undefined {
  const task = tasks.get(id)
  if (task === undefined || isExpired(task, now())) return undefined
  return owner === undefined || task.owner === owner ? task : undefined
}

/** Updates a task if its current claim has the token of the lease, and returns its state. Otherwise returns `lost`. */
export function writeIfLeased(
  store: MemoryStore,
  { id, token }: Lease,
  update: (task: StoredTask) => void,
): LeaseState {
  const task = findStoredTask(store, id)
  if (task?.token === undefined || task.token !== token) return 'lost'
  const state = task.isCancelling ? 'cancelling' : 'owned'
  update(task)
  return state
}

/** Returns true if a task has ended. */
export function isFinished({ status }: StoredTask): boolean {
  return status !== 'working' && status !== 'input_required'
}

/** Returns true if the lifetime of a task has ended. */
export function isExpired(task: StoredTask, nowMs: number): boolean {
  return nowMs >= expiryOf(task)
}

function expiryOf({ createdAt, ttlMs }: StoredTask): number {
  return ttlMs === null ? Number.POSITIVE_INFINITY : createdAt + ttlMs
}

/** Prolongs the lifetime of a task, and never shortens it. */
export function extendLifetime(task: StoredTask, lifetimeMs: number | null, nowMs: number): void {
  if (task.ttlMs === null || task.hasFixedLifetime) return
  task.ttlMs = lifetimeMs === null ? null : Math.max(task.ttlMs, nowMs - task.createdAt + lifetimeMs)
}

/** Returns the state of a task. Undefined if the task has ended. */
export function openStateOf(task: StoredTask, nowMs: number): OpenTaskState | undefined {
  if (isFinished(task)) return undefined
  if (task.dueAt === undefined) return 'waiting'
  if (task.dueAt <= nowMs) return 'ready'
  return task.token === undefined ? 'paused' : 'running'
}

/** Returns the public state of a task. */
export function toTaskRow(task: StoredTask, nowMs: number): TaskRow {
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
    // `finish` stored a `WireError` as text.
    error: isJsonObject(error) ? (error as unknown as WireError) : undefined,
  }
}

/** Returns a task as operators see it. */
export function toInspectedTask(task: StoredTask, nowMs: number): InspectedTask {
  const { owner, tool, attempt, failures, worker, dueAt } = task
  const dueInMs = dueAt === undefined ? undefined : dueAt - nowMs
  return { ...toTaskRow(task, nowMs), owner, tool, attempt, failures, worker, dueInMs, state: openStateOf(task, nowMs) }
}

/** Returns a task as its worker gets it. */
export function toClaimedTask(task: StoredTask, token: string, waitedMs: number): ClaimedTask {
  const { id, attempt, failures, payload, entries, responses, isCancelling } = task
  return {
    id,
    attempt,
    token,
    failures,
    waitedMs,
    payload: parseStoredObject(payload),
    // Each text was made from a `JournalEntry`.
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
