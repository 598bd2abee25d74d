import { parseJsonObject } from '@x/core'
import type { JournalEntry } from '@x/exchange'
import { type JsonObject, type WireError, isJsonObject } from '@x/schema'
import type {
  ClaimedTask,
  InspectedTask,
  LeaseState,
  NewTask,
  OpenTaskState,
  ProgressNumbers,
  RevokeOutcome,
  TaskAnswers,
  TaskEnd,
  TaskProgress,
  TaskRelease,
  TaskRow,
  TaskSuspension,
} from './engine.ts'

/** A task in memory, with its claim. JSON values are stored as text, so that callers get copies. */
export class StoredTask {
  readonly id: string
  readonly owner: string
  readonly caller: string
  readonly tool: string
  readonly createdAt: number
  readonly #hasFixedLifetime: boolean
  #payload: string
  #status: TaskRow['status'] = 'working'
  #statusMessage: string | undefined
  #progress: ProgressNumbers | undefined
  #updatedAt: number
  #ttlMs: number | null
  // Bounded by the questions of one task.
  #requests = new Map<string, string>()
  // Bounded by the questions of one task.
  readonly #responses = new Map<string, string>()
  // Bounded by `maxJournalBytes` of one task.
  readonly #entries = new Map<string, string>()
  #outcome: string | undefined
  #attempt = 0
  #failures = 0
  #dueAt: number | undefined
  #token: string | undefined
  #worker: string | undefined
  #isCancelling = false

  constructor(task: NewTask, nowMs: number) {
    this.id = task.id
    this.owner = task.owner
    this.caller = task.caller
    this.tool = task.tool
    this.createdAt = nowMs
    this.#hasFixedLifetime = task.hasFixedLifetime === true
    this.#payload = JSON.stringify(task.payload)
    this.#statusMessage = task.statusMessage
    this.#updatedAt = nowMs
    this.#ttlMs = task.lifetimeMs
    this.#dueAt = nowMs
  }

  get status(): TaskRow['status'] {
    return this.#status
  }

  get updatedAt(): number {
    return this.#updatedAt
  }

  get failures(): number {
    return this.#failures
  }

  /** When the task became ready, or its pause or lease ends. Undefined if it waits for its client or has ended. */
  get dueAt(): number | undefined {
    return this.#dueAt
  }

  get expiresAt(): number {
    return this.#ttlMs === null ? Number.POSITIVE_INFINITY : this.createdAt + this.#ttlMs
  }

  get isFinished(): boolean {
    return this.#status !== 'working' && this.#status !== 'input_required'
  }

  isExpired(nowMs: number): boolean {
    return nowMs >= this.expiresAt
  }

  /** Undefined if the task has ended. */
  openStateAt(nowMs: number): OpenTaskState | undefined {
    if (this.isFinished) return undefined
    if (this.#dueAt === undefined) return 'waiting'
    if (this.#dueAt <= nowMs) return 'ready'
    return this.#token === undefined ? 'paused' : 'running'
  }

  /** What a claim with this token may still do. */
  leaseStateOf(token: string): LeaseState {
    if (this.#token === undefined || this.#token !== token) return 'lost'
    return this.#isCancelling ? 'cancelling' : 'owned'
  }

  /** Stores answers to open requests; `resumed` if none is left open. */
  storeAnswers({ responses, lifetimeMs }: TaskAnswers, nowMs: number): 'ignored' | 'stored' | 'resumed' {
    const requestedEntries = Object.entries(responses).filter(([key]) => this.#requests.has(key))
    if (requestedEntries.length === 0) return 'ignored'
    for (const [key, response] of requestedEntries) {
      this.#responses.set(key, JSON.stringify(response))
      this.#requests.delete(key)
    }
    this.#updatedAt = nowMs
    if (this.#requests.size > 0) return 'stored'
    this.#status = 'working'
    this.#dueAt = nowMs
    this.#extendLifetime(lifetimeMs, nowMs)
    return 'resumed'
  }

  /** A running task is cancelled by its worker. */
  cancel(nowMs: number): 'cancelled' | 'notified' | 'finished' {
    if (this.isFinished) return 'finished'
    if (this.openStateAt(nowMs) === 'running') {
      this.#isCancelling = true
      return 'notified'
    }
    this.finish({ outcome: { status: 'cancelled' }, lifetimeMs: 0 }, nowMs)
    return 'cancelled'
  }

  /** Begins a claim with a new token. */
  claim(worker: string | undefined, leaseMs: number, nowMs: number): ClaimedTask {
    if (this.#token !== undefined) this.#failures++
    const waitedMs = nowMs - (this.#dueAt ?? nowMs)
    this.#attempt++
    this.#token = crypto.randomUUID()
    this.#worker = worker
    this.renewLease(leaseMs, nowMs)
    return {
      id: this.id,
      attempt: this.#attempt,
      token: this.#token,
      failures: this.#failures,
      waitedMs,
      payload: parseStoredObject(this.#payload),
      // Each text was made from a `JournalEntry`.
      entries: Array.from(this.#entries.values(), (text) => JSON.parse(text) as JournalEntry),
      responses: parseStoredObjects(this.#responses),
      isCancelling: this.#isCancelling,
    }
  }

  renewLease(leaseMs: number, nowMs: number): void {
    this.#dueAt = nowMs + leaseMs
  }

  storeProgress({ entries, statusMessage, progress, hasProgressed }: TaskProgress, nowMs: number): void {
    for (const entry of entries) this.#entries.set(JSON.stringify([entry.member, entry.key]), JSON.stringify(entry))
    if (hasProgressed) this.#failures = 0
    const previousText = JSON.stringify([this.#statusMessage, this.#progress])
    this.#statusMessage = statusMessage ?? this.#statusMessage
    this.#progress = progress ?? this.#progress
    if (JSON.stringify([this.#statusMessage, this.#progress]) !== previousText) this.#updatedAt = nowMs
  }

  /** Lets the task wait for its client. Does nothing if it is being cancelled, and so does {@link release}. */
  suspend(suspension: TaskSuspension, nowMs: number): void {
    if (this.#isCancelling) return
    this.storeProgress(suspension, nowMs)
    const requests = Object.entries(suspension.requests)
    this.#requests = new Map(requests.map(([key, request]) => [key, JSON.stringify(request)]))
    this.#status = 'input_required'
    this.#endClaim(undefined)
    this.#failures = 0
    this.#updatedAt = nowMs
    this.#extendLifetime(suspension.lifetimeMs, nowMs)
  }

  release(taskRelease: TaskRelease, nowMs: number): void {
    if (this.#isCancelling) return
    this.storeProgress(taskRelease, nowMs)
    this.#endClaim(nowMs + (taskRelease.pauseMs ?? 0))
  }

  finish({ outcome, statusMessage, progress, lifetimeMs }: TaskEnd, nowMs: number): void {
    this.#status = outcome.status
    this.#outcome = JSON.stringify(outcome)
    this.#statusMessage = statusMessage ?? this.#statusMessage
    this.#progress = progress ?? this.#progress
    this.#payload = '{}'
    this.#requests.clear()
    this.#responses.clear()
    this.#entries.clear()
    this.#endClaim(undefined)
    this.#isCancelling = false
    this.#updatedAt = nowMs
    this.#extendLifetime(lifetimeMs, nowMs)
  }

  /** Takes the task from its worker, so that any worker can claim it at once. */
  revoke(nowMs: number): Exclude<RevokeOutcome, 'unknown'> {
    if (this.isFinished) return 'finished'
    if (this.#dueAt === undefined) return 'waiting'
    this.#endClaim(nowMs)
    this.#failures = 0
    return 'revoked'
  }

  toRow(nowMs: number): TaskRow {
    const { result, error } = this.#outcome === undefined ? {} : parseStoredObject(this.#outcome)
    return {
      id: this.id,
      status: this.#status,
      statusMessage: this.#statusMessage,
      progress: this.#progress && { ...this.#progress },
      createdAt: this.createdAt,
      ageMs: nowMs - this.createdAt,
      updatedAt: this.#updatedAt,
      ttlMs: this.#ttlMs,
      requests: parseStoredObjects(this.#requests),
      result: isJsonObject(result) ? result : undefined,
      // `finish` stored a `WireError` as text.
      error: isJsonObject(error) ? (error as unknown as WireError) : undefined,
    }
  }

  toInspected(nowMs: number): InspectedTask {
    return {
      ...this.toRow(nowMs),
      owner: this.owner,
      tool: this.tool,
      attempt: this.#attempt,
      failures: this.#failures,
      worker: this.#worker,
      dueInMs: this.#dueAt === undefined ? undefined : this.#dueAt - nowMs,
      state: this.openStateAt(nowMs),
    }
  }

  #endClaim(dueAt: number | undefined): void {
    this.#dueAt = dueAt
    this.#token = undefined
    this.#worker = undefined
  }

  #extendLifetime(lifetimeMs: number | null, nowMs: number): void {
    if (this.#ttlMs === null || this.#hasFixedLifetime) return
    this.#ttlMs = lifetimeMs === null ? null : Math.max(this.#ttlMs, nowMs - this.createdAt + lifetimeMs)
  }
}

function parseStoredObjects(textsByKey: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(Array.from(textsByKey, ([key, text]) => [key, parseStoredObject(text)]))
}

function parseStoredObject(text: string): JsonObject {
  return parseJsonObject(text) ?? {}
}
