import { LimitError } from '@x/core'
import type {
  CancelOutcome,
  ClaimRequest,
  ClaimResult,
  EngineListener,
  Lease,
  LeaseState,
  NewTask,
  RevokeOutcome,
  TaskAnswerOutcome,
  TaskAnswers,
  TaskCount,
  TaskFilter,
  TaskPage,
  TaskRelease,
  TaskRow,
} from './engine.ts'
import { StoredTask } from './stored-task.ts'
import { toTaskSummary } from './task-summary.ts'

export class MemoryStore {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly #leaseMs: number
  readonly #maxTasks: number
  readonly #tasks = new Map<string, StoredTask>()
  // Bounded by `tasks` of the ledger.
  readonly #tasksByCaller = new Map<string, Set<StoredTask>>()
  // Bounded by `tasks` of the ledger.
  readonly #dueTasks = new Set<StoredTask>()
  // Bounded by the workers and streams of the engine's host.
  readonly #listeners = new Set<EngineListener>()
  /** No task expires before this time, in milliseconds since 1970. */
  #earliestExpiry = Number.POSITIVE_INFINITY

  constructor(leaseMs: number, maxTasks: number, now: () => number) {
    this.now = now
    this.#leaseMs = leaseMs
    this.#maxTasks = maxTasks
  }

  /**
   * Stores a new task. A caller at its limit loses its oldest ended task; if the store is full, the caller with the
   * most tasks does. With no ended task, `full` stands for the caller's limit, and a `LimitError` for the store's.
   */
  create(task: NewTask): TaskRow | 'full' {
    const nowMs = this.now()
    const ownTasks = this.#tasksByCaller.get(task.caller) ?? new Set()
    if (ownTasks.size >= task.callerLimit) {
      const liveTasks = [...ownTasks].filter((ownTask) => !ownTask.isExpired(nowMs))
      if (liveTasks.length >= task.callerLimit && !this.#deleteOldestEnded(liveTasks)) return 'full'
    }
    // An engine with a database finds a known id when it inserts the row, so after it has made room.
    if (this.#tasks.has(task.id))
      throw new Error(`The task ${JSON.stringify(task.id)} exists already: create another id`)
    const maxTasks = this.#maxTasks
    if (this.#tasks.size >= maxTasks && this.deleteExpired() === 0 && !this.#deleteOfGreediestCaller()) {
      const advice = 'raise maxTasks of memoryEngine, or use an engine with a database'
      throw new LimitError('tasks', { scope: 'all', max: maxTasks, advice })
    }
    const storedTask = new StoredTask(task, nowMs)
    this.#tasks.set(task.id, storedTask)
    // A deletion above may have removed the set from the map, together with its last task.
    this.#tasksByCaller.set(task.caller, ownTasks.add(storedTask))
    this.#earliestExpiry = Math.min(this.#earliestExpiry, storedTask.expiresAt)
    this.#dueTasks.add(storedTask)
    this.#notifyWork()
    return storedTask.toRow(nowMs)
  }

  /** Finds a task that has not expired, and with an owner only that owner's. */
  find(id: string, owner?: string): StoredTask | undefined {
    const task = this.#tasks.get(id)
    if (task === undefined || task.isExpired(this.now())) return undefined
    return owner === undefined || task.owner === owner ? task : undefined
  }

  answer(answers: TaskAnswers): TaskAnswerOutcome {
    const task = this.find(answers.id, answers.owner)
    if (task === undefined) return 'unknown'
    const outcome = this.#change(task, (nowMs) => task.storeAnswers(answers, nowMs))
    if (outcome === 'resumed') this.#notifyWork()
    return outcome
  }

  cancel(id: string, owner: string | undefined): CancelOutcome {
    const task = this.find(id, owner)
    if (task === undefined) return 'unknown'
    const outcome = this.#change(task, (nowMs) => task.cancel(nowMs))
    if (outcome === 'notified') for (const listener of this.#listeners) listener.onCancel(id)
    return outcome
  }

  claim({ maxClaims, id, worker }: ClaimRequest): ClaimResult {
    const nowMs = this.now()
    const nextDueAt = Math.min(
      ...Array.from(this.#dueTasks, ({ dueAt = 0 }) => (dueAt > nowMs ? dueAt : Number.POSITIVE_INFINITY)),
    )
    const readyTasks = this.listReady().filter((task) => id === undefined || task.id === id)
    // Claims go to those that became due first; among them, the oldest begins first.
    const claimableTasks = readyTasks.slice(0, maxClaims).sort((one, other) => one.createdAt - other.createdAt)
    return {
      nextDueMs: nextDueAt === Number.POSITIVE_INFINITY ? undefined : nextDueAt - nowMs,
      tasks: claimableTasks.map((task) => task.claim(worker, this.#leaseMs, nowMs)),
    }
  }

  renewLease(lease: Lease): LeaseState {
    return this.write(lease, (task, nowMs) => task.renewLease(this.#leaseMs, nowMs))
  }

  /** Changes a task if its current claim has the lease's token, and returns its state. Otherwise `lost`. */
  write({ id, token }: Lease, change: (task: StoredTask, nowMs: number) => void): LeaseState {
    const task = this.find(id)
    const leaseState = task?.leaseStateOf(token) ?? 'lost'
    if (task !== undefined && leaseState !== 'lost') this.#change(task, (nowMs) => change(task, nowMs))
    return leaseState
  }

  release(lease: Lease, taskRelease: TaskRelease): LeaseState {
    const leaseState = this.write(lease, (task, nowMs) => task.release(taskRelease, nowMs))
    if (leaseState === 'owned' && taskRelease.pauseMs === undefined) this.#notifyWork()
    return leaseState
  }

  revoke(id: string): RevokeOutcome {
    const task = this.find(id)
    if (task === undefined) return 'unknown'
    const outcome = this.#change(task, (nowMs) => task.revoke(nowMs))
    if (outcome === 'revoked') this.#notifyWork()
    return outcome
  }

  /** Deletes the tasks whose lifetime has ended, and says how many. */
  deleteExpired(): number {
    const nowMs = this.now()
    if (nowMs < this.#earliestExpiry) return 0
    const expiredTasks = [...this.#tasks.values()].filter((task) => task.isExpired(nowMs))
    for (const task of expiredTasks) this.#delete(task)
    // A later change of a task can only prolong its lifetime, so this time stays a lower bound.
    this.#earliestExpiry = Number.POSITIVE_INFINITY
    for (const { expiresAt } of this.#tasks.values()) this.#earliestExpiry = Math.min(this.#earliestExpiry, expiresAt)
    return expiredTasks.length
  }

  /** Adds a listener, and returns the function that removes it. */
  listen({ onWork, onCancel }: EngineListener): () => void {
    const listener = { onWork, onCancel }
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** What can be claimed, in the order in which it became due. */
  listReady(): StoredTask[] {
    const nowMs = this.now()
    return [...this.#dueTasks]
      .filter((task) => task.openStateAt(nowMs) === 'ready' && !task.isExpired(nowMs))
      .sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0))
  }

  list({ status, tool, owner, olderThanMs = 0, minFailures = 0, limit, cursor }: TaskFilter): TaskPage {
    const nowMs = this.now()
    // The map is in order of creation, so its last task is the newest. A cursor is the id of the previous page's last
    // task.
    const newestFirst = [...this.#tasks.values()].toReversed()
    const start = cursor === undefined ? 0 : newestFirst.findIndex(({ id }) => id === cursor) + 1
    const matching = newestFirst
      .slice(start)
      .filter((task) => !task.isExpired(nowMs) && nowMs - task.createdAt >= olderThanMs && task.failures >= minFailures)
      .filter((task) => status === undefined || task.status === status)
      .filter((task) => (tool === undefined || task.tool === tool) && (owner === undefined || task.owner === owner))
    const page = matching.slice(0, limit).map((task) => task.toInspected(nowMs))
    return {
      tasks: page.map(toTaskSummary),
      ...(matching.length > limit && { nextCursor: page.at(-1)?.id }),
    }
  }

  count(): readonly TaskCount[] {
    const nowMs = this.now()
    const counts = new Map<string, TaskCount>()
    for (const task of this.#tasks.values()) {
      const state = task.openStateAt(nowMs)
      if (state === undefined || task.isExpired(nowMs)) continue
      const { tool, status, createdAt, dueAt = createdAt } = task
      const key = JSON.stringify([tool, state])
      const ageMs = nowMs - (state === 'ready' ? dueAt : createdAt)
      const { count, oldestAgeMs } = counts.get(key) ?? { count: 0, oldestAgeMs: 0 }
      counts.set(key, { tool, status, state, count: count + 1, oldestAgeMs: Math.max(oldestAgeMs, ageMs) })
    }
    return [...counts.values()]
  }

  #change<T>(task: StoredTask, change: (nowMs: number) => T): T {
    const outcome = change(this.now())
    if (task.dueAt === undefined) this.#dueTasks.delete(task)
    else this.#dueTasks.add(task)
    return outcome
  }

  #deleteOfGreediestCaller(): boolean {
    return [...this.#tasksByCaller.values()]
      .toSorted((one, other) => other.size - one.size)
      .some((callerTasks) => this.#deleteOldestEnded([...callerTasks]))
  }

  #deleteOldestEnded(candidates: readonly StoredTask[]): boolean {
    const [oldest] = candidates
      .filter(({ isFinished }) => isFinished)
      .toSorted((one, other) => one.updatedAt - other.updatedAt)
    if (oldest !== undefined) this.#delete(oldest)
    return oldest !== undefined
  }

  #delete(task: StoredTask): void {
    this.#tasks.delete(task.id)
    this.#dueTasks.delete(task)
    const callerTasks = this.#tasksByCaller.get(task.caller)
    callerTasks?.delete(task)
    if (callerTasks?.size === 0) this.#tasksByCaller.delete(task.caller)
  }

  #notifyWork(): void {
    for (const listener of this.#listeners) listener.onWork()
  }
}
