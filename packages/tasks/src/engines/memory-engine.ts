import { memoryBus } from '@x/core'
import type {
  CancelOutcome,
  ClaimRequest,
  ClaimResult,
  Lease,
  LeaseState,
  RevokeOutcome,
  TaskAnswerOutcome,
  TaskAnswers,
  TaskCount,
  TaskEnd,
  TaskEngine,
  TaskFilter,
  TaskPage,
  TaskProgress,
  TaskRelease,
  TaskSuspension,
} from './engine.ts'
import {
  createStoredTask,
  deleteExpiredTasks,
  extendLifetime,
  findStoredTask,
  isExpired,
  isFinished,
  type MemoryStore,
  notifyWork,
  openStateOf,
  setDueAt,
  type StoredTask,
  toClaimedTask,
  toInspectedTask,
  toTaskRow,
  writeIfLeased,
} from './memory-store.ts'
import { toTaskSummary } from './task-summary.ts'

/** The options of {@link memoryEngine}. */
export interface MemoryEngineOptions {
  /** Milliseconds for which a claim is valid. Default: 10,000. */
  readonly leaseMs?: number | undefined
  /**
   * The largest number of tasks that are stored, including ended tasks. Above it expired tasks are deleted, or else the
   * oldest ended task of the caller that has the most tasks. If no task has ended, `create` rejects with `LimitError`.
   * Default: 10,000.
   */
  readonly maxTasks?: number | undefined
  /** Returns the time in milliseconds since 1970. Default: `Date.now`. */
  readonly wallClock?: (() => number) | undefined
}

/**
 * Creates an engine in the memory of this process, whose tasks are lost when the process ends. It is for tests, and for
 * servers whose tasks need not survive. Several servers of one process may share it.
 */
export function memoryEngine(options: MemoryEngineOptions = {}): TaskEngine {
  const { leaseMs = 10_000, maxTasks = 10_000, wallClock = Date.now } = options
  const store: MemoryStore = {
    tasks: new Map(),
    tasksByCaller: new Map(),
    dueTasks: new Set(),
    earliestExpiry: Number.POSITIVE_INFINITY,
    listeners: new Set(),
    leaseMs,
    maxTasks,
    now: () => wallClock(),
  }
  // Each function is a transaction, because none of them awaits anything between its reads and writes.
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
    claim: async (request) => claimStoredTasks(store, request),
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
    listDue: async (limit) =>
      readyTasksOf(store)
        .slice(0, limit)
        .map(({ id }) => id),
    inspect: async (id) => {
      const task = findStoredTask(store, id)
      return task && toInspectedTask(task, store.now())
    },
    revoke: async (id) => revokeStoredTask(store, id),
    list: async (filter) => listStoredTasks(store, filter),
    count: async () => countStoredTasks(store),
    ping: async () => {},
    close: async () => {},
  }
}

function storeAnswers(store: MemoryStore, { id, owner, responses, lifetimeMs }: TaskAnswers): TaskAnswerOutcome {
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
  setDueAt(store, task, task.updatedAt)
  extendLifetime(task, lifetimeMs, task.updatedAt)
  notifyWork(store)
  return 'resumed'
}

function cancelStoredTask(store: MemoryStore, id: string, owner: string | undefined): CancelOutcome {
  const task = findStoredTask(store, id, owner)
  if (task === undefined) return 'unknown'
  if (isFinished(task)) return 'finished'
  if (openStateOf(task, store.now()) === 'running') {
    task.isCancelling = true
    for (const listener of store.listeners) listener.onCancel(id)
    return 'notified'
  }
  finishStoredTask(store, task, { outcome: { status: 'cancelled' }, lifetimeMs: 0 })
  return 'cancelled'
}

/** Returns the tasks that can be claimed, in the order in which they became due. */
function readyTasksOf({ dueTasks, now }: MemoryStore): StoredTask[] {
  const nowMs = now()
  return [...dueTasks]
    .filter((task) => openStateOf(task, nowMs) === 'ready' && !isExpired(task, nowMs))
    .sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0))
}

function claimStoredTasks(store: MemoryStore, { maxClaims, id, worker }: ClaimRequest): ClaimResult {
  const { dueTasks, now, leaseMs } = store
  const nowMs = now()
  const nextDueAt = Math.min(
    ...Array.from(dueTasks, ({ dueAt = 0 }) => (dueAt > nowMs ? dueAt : Number.POSITIVE_INFINITY)),
  )
  const readyTasks = readyTasksOf(store).filter((task) => id === undefined || task.id === id)
  // The tasks that became due first are claimed. The oldest of them begins first.
  const claimableTasks = readyTasks.slice(0, maxClaims).sort((one, other) => one.createdAt - other.createdAt)
  return {
    nextDueMs: nextDueAt === Number.POSITIVE_INFINITY ? undefined : nextDueAt - nowMs,
    tasks: claimableTasks.map((task) => {
      if (task.token !== undefined) task.failures++
      const waitedMs = nowMs - (task.dueAt ?? nowMs)
      task.attempt++
      task.token = crypto.randomUUID()
      task.worker = worker
      task.dueAt = nowMs + leaseMs
      return toClaimedTask(task, task.token, waitedMs)
    }),
  }
}

function renewLease(store: MemoryStore, lease: Lease): LeaseState {
  return writeIfLeased(store, lease, (task) => {
    task.dueAt = store.now() + store.leaseMs
  })
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

function endClaim(store: MemoryStore, task: StoredTask, dueAt: number | undefined): void {
  setDueAt(store, task, dueAt)
  task.token = undefined
  task.worker = undefined
}

function suspendStoredTask(store: MemoryStore, task: StoredTask, suspension: TaskSuspension): void {
  const nowMs = store.now()
  storeProgress(task, suspension, nowMs)
  task.requests = new Map(Object.entries(suspension.requests).map(([key, request]) => [key, JSON.stringify(request)]))
  task.status = 'input_required'
  endClaim(store, task, undefined)
  task.failures = 0
  task.updatedAt = nowMs
  extendLifetime(task, suspension.lifetimeMs, nowMs)
}

function releaseStoredTask(store: MemoryStore, task: StoredTask, taskRelease: TaskRelease): void {
  const nowMs = store.now()
  storeProgress(task, taskRelease, nowMs)
  endClaim(store, task, nowMs + (taskRelease.pauseMs ?? 0))
  if (taskRelease.pauseMs === undefined) notifyWork(store)
}

function finishStoredTask(
  store: MemoryStore,
  task: StoredTask,
  { outcome, statusMessage, progress, lifetimeMs }: TaskEnd,
): void {
  task.status = outcome.status
  task.outcome = JSON.stringify(outcome)
  task.statusMessage = statusMessage
  task.progress = progress ?? task.progress
  task.payload = '{}'
  task.requests = new Map()
  task.responses.clear()
  task.entries.clear()
  endClaim(store, task, undefined)
  task.isCancelling = false
  task.updatedAt = store.now()
  extendLifetime(task, lifetimeMs, task.updatedAt)
}

function revokeStoredTask(store: MemoryStore, id: string): RevokeOutcome {
  const task = findStoredTask(store, id)
  if (task === undefined) return 'unknown'
  if (isFinished(task)) return 'finished'
  if (task.dueAt === undefined) return 'waiting'
  endClaim(store, task, store.now())
  task.failures = 0
  notifyWork(store)
  return 'revoked'
}

function listStoredTasks({ tasks, now }: MemoryStore, filter: TaskFilter): TaskPage {
  const { status, tool, owner, olderThanMs = 0, minFailures = 0, limit, cursor } = filter
  const nowMs = now()
  // The map is in order of creation, so its last task is the newest. The cursor is the id of the last task of the
  // previous page.
  const newestFirst = [...tasks.values()].toReversed()
  const start = cursor === undefined ? 0 : newestFirst.findIndex(({ id }) => id === cursor) + 1
  const matching = newestFirst
    .slice(start)
    .filter((task) => !isExpired(task, nowMs) && nowMs - task.createdAt >= olderThanMs && task.failures >= minFailures)
    .filter((task) => status === undefined || task.status === status)
    .filter((task) => (tool === undefined || task.tool === tool) && (owner === undefined || task.owner === owner))
  const page = matching.slice(0, limit).map((task) => toInspectedTask(task, nowMs))
  return {
    tasks: page.map(toTaskSummary),
    ...(matching.length > limit && { nextCursor: page.at(-1)?.id }),
  }
}

function countStoredTasks({ tasks, now }: MemoryStore): readonly TaskCount[] {
  const nowMs = now()
  const counts = new Map<string, TaskCount>()
  for (const task of tasks.values()) {
    const state = openStateOf(task, nowMs)
    if (state === undefined || isExpired(task, nowMs)) continue
    const { tool, status, createdAt, dueAt = createdAt } = task
    const key = JSON.stringify([tool, state])
    const ageMs = nowMs - (state === 'ready' ? dueAt : createdAt)
    const { count, oldestAgeMs } = counts.get(key) ?? { count: 0, oldestAgeMs: 0 }
    counts.set(key, { tool, status, state, count: count + 1, oldestAgeMs: Math.max(oldestAgeMs, ageMs) })
  }
  return [...counts.values()]
}
