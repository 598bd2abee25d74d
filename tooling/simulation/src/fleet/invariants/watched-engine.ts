import type { JournalEntry } from '@x/exchange'
import type { ClaimedTask, Lease, LeaseState, TaskEngine, TaskStatus } from '@x/tasks'
import type { Trace } from '../trace.ts'
import type { ReportViolation } from './violations.ts'

/** The expected state of a task, from the calls that had an effect. */
interface TaskModel {
  readonly owner: string
  status: TaskStatus
  attempt: number
  token: string | undefined
  /** The entries of the journal, as JSON, by part and key. */
  readonly entries: Map<string, string>
  /** The first value of each step. */
  readonly stepValues: Map<string, string>
}

/** The tasks of one engine, and their end times. */
export interface TaskObservations {
  /** The time at which a task ended, by its id. */
  readonly endedAt: ReadonlyMap<string, number>
  /** The ids of all tasks, the newest last. */
  readonly ids: readonly string[]
}

/** The statuses that may follow a status. */
const nextStatuses: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  working: ['working', 'input_required', 'completed', 'failed', 'cancelled'],
  input_required: ['input_required', 'working', 'completed', 'failed', 'cancelled'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
}

interface WatchContext {
  readonly engine: TaskEngine
  readonly report: ReportViolation
  readonly trace: Trace
  readonly now: () => number
}

/**
 * Wraps the engine that all instances share, and compares each outcome with a model of the tasks. Returns the wrapped
 * engine.
 */
export function watchEngine(context: WatchContext): { engine: TaskEngine; observations: TaskObservations } {
  const watcher = new EngineWatcher(context)
  return { engine: watcher.wrap(), observations: watcher }
}

class EngineWatcher implements TaskObservations {
  readonly endedAt = new Map<string, number>()
  readonly #models = new Map<string, TaskModel>()
  readonly #context: WatchContext

  constructor(context: WatchContext) {
    this.#context = context
  }

  get ids(): readonly string[] {
    return [...this.#models.keys()]
  }

  wrap(): TaskEngine {
    const { engine } = this.#context
    return {
      ...engine,
      create: async (task) => {
        const row = await engine.create(task)
        if (row !== 'full') this.#begin(task.id, task.owner)
        return row
      },
      get: async (id, owner) => {
        const row = await engine.get(id, owner)
        if (row !== undefined) this.#checkOwner(id, owner)
        await this.#checkStatus(id)
        return row
      },
      answer: async (answers) => {
        const outcome = await engine.answer(answers)
        if (outcome !== 'unknown') this.#checkOwner(answers.id, answers.owner)
        await this.#checkStatus(answers.id)
        return outcome
      },
      cancel: async (id, owner) => {
        const outcome = await engine.cancel(id, owner)
        if (outcome !== 'unknown' && owner !== undefined) this.#checkOwner(id, owner)
        await this.#checkStatus(id)
        return outcome
      },
      claim: async (request) => {
        const claims = await engine.claim(request)
        for (const task of claims.tasks) this.#claim(task)
        return claims
      },
      heartbeat: async (leases) => {
        const states = await engine.heartbeat(leases)
        leases.forEach((lease, index) => this.#checkLease('heartbeat', lease, states[index]))
        return states
      },
      record: (lease, progress) =>
        this.#write('record', lease, { entries: progress.entries, run: () => engine.record(lease, progress) }),
      suspend: (lease, suspension) =>
        this.#write('suspend', lease, { entries: suspension.entries, run: () => engine.suspend(lease, suspension) }),
      release: (lease, taskRelease) =>
        this.#write('release', lease, { entries: taskRelease.entries, run: () => engine.release(lease, taskRelease) }),
      finish: async (lease, taskEnd) => {
        const isFinished = await engine.finish(lease, taskEnd)
        this.#checkLease(`finish as ${taskEnd.outcome.status}`, lease, isFinished ? 'owned' : 'lost')
        await this.#checkStatus(lease.id)
        return isFinished
      },
    }
  }

  #begin(id: string, owner: string): void {
    this.#context.trace.add('engine', `create ${id}`)
    if (this.#models.has(id)) this.#context.report('statuses', `task ${id} was created twice`)
    this.#models.set(id, {
      owner,
      status: 'working',
      attempt: 0,
      token: undefined,
      entries: new Map(),
      stepValues: new Map(),
    })
  }

  #checkOwner(id: string, owner: string): void {
    const model = this.#models.get(id)
    if (model === undefined || model.owner !== owner)
      this.#context.report('owners', `${owner} reached task ${id} of ${model?.owner ?? 'no caller'}`)
  }

  #claim(task: ClaimedTask): void {
    const { report, trace } = this.#context
    const model = this.#models.get(task.id)
    if (model === undefined) return report('leases', `a claim returned task ${task.id}, which was never created`)
    trace.add('engine', `claim ${task.id}, attempt ${task.attempt}`)
    if (task.attempt !== model.attempt + 1)
      report('leases', `attempt ${task.attempt} of ${task.id} follows attempt ${model.attempt}`)
    if (task.token === model.token) report('leases', `attempt ${task.attempt} of ${task.id} has the token of the last`)
    model.attempt = task.attempt
    model.token = task.token
    const read = textsOf(task.entries)
    for (const key of new Set([...read.keys(), ...model.entries.keys()]))
      if (read.get(key) !== model.entries.get(key))
        report('journal', `${key} of ${task.id} was recorded as ${model.entries.get(key)} and is ${read.get(key)}`)
  }

  async #write(
    name: string,
    lease: Lease,
    { entries, run }: { readonly entries: readonly JournalEntry[]; readonly run: () => Promise<LeaseState> },
  ): Promise<LeaseState> {
    const state = await run()
    this.#checkLease(name, lease, state)
    const isStored = state === 'owned' || (state === 'cancelling' && name === 'record')
    if (isStored) this.#store(lease.id, entries)
    if (isStored && name !== 'record') this.#endClaim(lease.id)
    await this.#checkStatus(lease.id)
    return state
  }

  #checkLease(name: string, { id, attempt, token }: Lease, state: LeaseState | undefined): void {
    const { report, trace } = this.#context
    if (name !== 'heartbeat') trace.add('engine', `${name} ${id}, attempt ${attempt}: ${state}`)
    const model = this.#models.get(id)
    const isCurrent = model !== undefined && model.token === token
    if (!isCurrent && state !== 'lost') report('leases', `${name} of ${id} succeeded with the old attempt ${attempt}`)
  }

  #endClaim(id: string): void {
    const model = this.#models.get(id)
    if (model !== undefined) model.token = undefined
  }

  #store(id: string, entries: readonly JournalEntry[]): void {
    const model = this.#models.get(id)
    if (model === undefined) return
    for (const [key, text] of textsOf(entries)) {
      model.entries.set(key, text)
      if (!key.startsWith('["steps"')) continue
      const first = model.stepValues.get(key) ?? text
      model.stepValues.set(key, first)
      if (first !== text) this.#context.report('journal', `${key} of ${id} has the values ${first} and ${text}`)
    }
  }

  async #checkStatus(id: string): Promise<void> {
    const { engine, report, now } = this.#context
    const model = this.#models.get(id)
    const status = (await engine.inspect(id))?.status
    if (model === undefined || status === undefined) return
    if (!nextStatuses[model.status].includes(status))
      report('statuses', `task ${id} was ${model.status} and is ${status}`)
    if (model.status !== status && nextStatuses[status].length === 1) this.endedAt.set(id, now())
    model.status = status
  }
}

function textsOf(entries: readonly JournalEntry[]): ReadonlyMap<string, string> {
  return new Map(entries.map((entry) => [JSON.stringify([entry.member, entry.key]), JSON.stringify(entry)]))
}
