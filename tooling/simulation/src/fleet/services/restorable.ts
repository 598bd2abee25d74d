import type { StateStore } from '@x/state-codec'
import type { ClaimedTask, EngineListener, Lease, TaskEngine } from '@x/tasks'

/** A service that can return to an earlier state, as after a fail-over that lost the last writes. */
export interface Restorable<Service> {
  readonly service: Service
  /** Returns to the state that the service had at a time, in milliseconds since 1970. */
  returnTo(time: number): Promise<void>
}

/** The time at which the service runs a write. While writes are repeated, it is the time of the original. */
type Clock = () => number

interface LoggedWrite<Service> {
  readonly at: number
  readonly repeat: (service: Service) => Promise<unknown>
}

/** Keeps the writes of a service, and repeats the earlier ones on a new service. */
class WriteLog<Service> {
  current: Service
  readonly #create: (clock: Clock) => Service
  #writes: readonly LoggedWrite<Service>[] = []
  #repeatedAt: number | undefined

  constructor(create: (clock: Clock) => Service) {
    this.#create = create
    this.current = this.#open()
  }

  run<T>(repeat: (service: Service) => Promise<T>): Promise<T> {
    this.#writes = [...this.#writes, { at: Date.now(), repeat }]
    return repeat(this.current)
  }

  async returnTo(time: number): Promise<void> {
    const service = this.#open()
    this.#writes = this.#writes.filter(({ at }) => at <= time)
    for (const { at, repeat } of this.#writes) {
      this.#repeatedAt = at
      await repeat(service).catch(() => {})
    }
    this.#repeatedAt = undefined
    this.current = service
  }

  #open(): Service {
    return this.#create(() => this.#repeatedAt ?? Date.now())
  }
}

/** Makes a store restorable. */
export function restorableStore(create: (clock: Clock) => StateStore): Restorable<StateStore> {
  const log = new WriteLog(create)
  const bind = (owner: string | undefined): StateStore => {
    const viewOf = (store: StateStore): StateStore => (owner === undefined ? store : (store.forOwner?.(owner) ?? store))
    return {
      add: (key, value, ttlMs) => log.run((store) => viewOf(store).add(key, value, ttlMs)),
      get: (key) => viewOf(log.current).get(key),
      delete: (key) => log.run((store) => viewOf(store).delete(key)),
      expire: (key, ttlMs) => log.run(async (store) => viewOf(store).expire?.(key, ttlMs)),
    }
  }
  return { service: { ...bind(undefined), forOwner: bind }, returnTo: (time) => log.returnTo(time) }
}

/**
 * Makes an engine restorable. A repeated claim has another token, so the tokens of workers are translated: a claim that
 * was not lost stays valid.
 */
export function restorableEngine(create: (clock: Clock) => TaskEngine): Restorable<TaskEngine> {
  const log = new WriteLog(create)
  const listeners = new Set<EngineListener>()
  const tokens = new Map<string, string>()
  const translate = <L extends Lease>(lease: L): L => ({ ...lease, token: tokens.get(lease.token) ?? lease.token })
  const listenTo = (engine: TaskEngine): Promise<() => void> =>
    engine.listen({
      onWork: () => listeners.forEach((listener) => listener.onWork()),
      onCancel: (id) => listeners.forEach((listener) => listener.onCancel(id)),
    })
  void listenTo(log.current)
  const claim: TaskEngine['claim'] = (request) => {
    let claimed: readonly ClaimedTask[] | undefined
    return log.run(async (engine) => {
      const claims = await engine.claim(request)
      claimed ??= claims.tasks
      claims.tasks.forEach((task, index) => tokens.set(claimed?.[index]?.token ?? task.token, task.token))
      return claims
    })
  }
  return {
    service: {
      leaseMs: log.current.leaseMs,
      create: (task) => log.run((engine) => engine.create(task)),
      answer: (answers) => log.run((engine) => engine.answer(answers)),
      cancel: (id, owner) => log.run((engine) => engine.cancel(id, owner)),
      claim,
      heartbeat: (leases) => log.run((engine) => engine.heartbeat(leases.map(translate))),
      record: (lease, progress) => log.run((engine) => engine.record(translate(lease), progress)),
      suspend: (lease, suspension) => log.run((engine) => engine.suspend(translate(lease), suspension)),
      release: (lease, taskRelease) => log.run((engine) => engine.release(translate(lease), taskRelease)),
      finish: (lease, taskEnd) => log.run((engine) => engine.finish(translate(lease), taskEnd)),
      deleteExpiredTasks: () => log.run((engine) => engine.deleteExpiredTasks()),
      revoke: (id) => log.run((engine) => engine.revoke(id)),
      get: (id, owner) => log.current.get(id, owner),
      inspect: (id) => log.current.inspect(id),
      list: (filter) => log.current.list(filter),
      listDue: (limit) => log.current.listDue(limit),
      count: () => log.current.count(),
      ping: () => log.current.ping(),
      close: () => log.current.close(),
      listen: async (listener) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    },
    async returnTo(time) {
      await log.returnTo(time)
      await listenTo(log.current)
    },
  }
}
