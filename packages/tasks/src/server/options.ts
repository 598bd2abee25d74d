import {
  availableCode,
  captureAsyncContext,
  type Clock,
  createOutageLog,
  errorRecord,
  isMissingModuleError,
  type Ledger,
  type Log,
  type LogContext,
  memoryBus,
  type OptionTable,
  optionTypes,
  type ResolvedOptions,
  resolveOptions,
  unavailableCode,
  unavailableErrorIn,
} from '@x/core'
import type { Exchange, ExtensionHost } from '@x/exchange'
import type { StateCodec } from '@x/server'
import type { TaskEngine } from '../engines/engine.ts'
import { engineFactoryFor } from '../engines/engine-factory.ts'
import { digestTaskId } from './task-digest.ts'
import { TaskChangeBus } from './task-change-bus.ts'
import { observeEngine } from '../engines/observed-engine.ts'
import { WriteHealth } from './write-health.ts'
import { createDispatch, type Dispatch, type TaskRunner } from './task-runner.ts'

/** Options of the server extension `tasks`. */
export interface TaskOptions {
  /**
   * Where tasks are stored, as an address or as an engine. Instances that continue each other's tasks need the same
   * store. An engine given here is closed with the server. `memory:` loses the tasks when the process ends.
   * `pglite:./.mcp-tasks` keeps them in a folder for one process. `postgres://…` and `redis://…` (or `postgresql://`,
   * `rediss://`) are for several instances; `?schema=` and `?prefix=` are options of their engines. Another scheme throws `RangeError`. Default: `memory:`.
   */
  readonly store?: string | TaskEngine | undefined
  /**
   * True if this instance runs tasks, also those that other instances have created. Default: true, and false with a
   * `runner`.
   */
  readonly runWorker?: boolean | undefined
  /**
   * Decides where and when tasks run, by calls of `server.tasks.run`; an instance then claims a task only in such a
   * call. A runner together with `runWorker: true` throws `RangeError`. Default: the workers of the instances run
   * tasks.
   */
  readonly runner?: TaskRunner | undefined
  /** Maximum number of tasks that this instance runs at once. Default: 16. */
  readonly concurrency?: number | undefined
  /**
   * Milliseconds after its last change of status for which a task is stored, even if it has not ended. Cancelling a
   * task that no worker runs does not prolong it. A caller at its limit of tasks, by default 1,000, loses its oldest
   * ended task earlier. Null stores tasks for ever. Default: a day.
   */
  readonly ttlMs?: number | null | undefined
  /**
   * Longest poll interval that the server suggests to clients, in milliseconds. For a young task it suggests a shorter
   * one, from 50 ms. Default: 1000.
   */
  readonly pollIntervalMs?: number | undefined
  /**
   * How often a task's lease may expire without a recorded step or another value of a checkpoint in between, because its
   * process died or hung, before the task fails. Default: 5.
   */
  readonly maxFailures?: number | undefined
  /**
   * Encrypts the caller's claims (`principal.claims`), which are stored with the task until it ends. It must be able to
   * open the same token several times. Default: the server's `state`, if its tokens live as long as tasks (`maxAgeMs`
   * of the codec, `ttlMs` here). Without a codec claims are not stored, and handlers of tasks run without claims.
   */
  readonly state?: StateCodec | undefined
  /**
   * True for the persistent workflow of SEP-2322: the server also serves `tasks/result` and `tasks/input_response`, and
   * treats `task` in a call as the request for a task. Clients need not declare the extension. Default: false.
   */
  readonly persistentWorkflow?: boolean | undefined
  /** Clock, for tests. Default: the server's `runtime`. */
  readonly runtime?: Clock | undefined
}

/** Checked {@link TaskOptions}, with defaults. */
export interface ResolvedTaskOptions
  extends Omit<ResolvedOptions<TaskOptions, typeof taskOptionTable>, 'store' | 'runWorker'> {
  readonly runWorker: boolean
  /** True if the options have no `store`. Tasks are then in memory. */
  readonly isStoreOmitted: boolean
  readonly openEngine: (log: Log) => TaskEngine
}

export interface TaskSettings extends Omit<ResolvedTaskOptions, 'openEngine' | 'isStoreOmitted' | 'runtime'> {
  readonly engine: TaskEngine
  /** Maximum number of stored tasks, of every status, for one caller: the bound `tasks` of the server's ledger. */
  readonly callerLimit: number
  /** Counts the tasks that streams follow. */
  readonly ledger: Ledger
  /** Writes an error to the server's log. Never throws. */
  readonly onError: (error: unknown, context?: LogContext) => void
  readonly clock: Clock
}

/** What the extension's functions share in one server. */
export interface TaskContext {
  /**
   * Workers run the calls of tasks with this exchange. It includes the middleware of the other extensions, but neither
   * that of `use` nor authorization.
   */
  readonly innerExchange: Exchange
  readonly settings: TaskSettings
  readonly writeHealth: WriteHealth
  readonly taskChanges: TaskChangeBus
  /** Emits an event of the server. */
  readonly emit: ExtensionHost['emit']
  readonly dispatch: Dispatch
}

/**
 * Milliseconds up to the last day that a `Date` has. With what a change of status adds to it, a longer lifetime would be
 * no safe integer, and clients reject such a task.
 */
export const maxLifetimeMs = 8_640_000_000_000_000

const taskOptionTable = {
  store: undefined,
  runWorker: { type: optionTypes.boolean },
  runner: undefined,
  concurrency: 16,
  // limit: ms | a task after its last change | deleted
  ttlMs: { default: 86_400_000, isNullable: true, max: maxLifetimeMs },
  pollIntervalMs: 1000,
  // limit: count | crashes in a row without a completed step or another value of a checkpoint | the task fails
  maxFailures: 5,
  state: undefined,
  persistentWorkflow: { default: false, type: optionTypes.boolean },
  runtime: undefined,
} satisfies OptionTable<TaskOptions>

/**
 * Checks options and fills in defaults. Throws `RangeError` for an invalid number, an unknown store, and a runner
 * together with `runWorker: true`.
 */
export function resolveTaskOptions(options: TaskOptions): ResolvedTaskOptions {
  const { store = 'memory:', ...resolved } = resolveOptions(options, taskOptionTable, 'tasks')
  const { runner, runWorker = runner === undefined } = resolved
  if (runner !== undefined && runWorker)
    throw new RangeError('runWorker is true beside a runner: omit it, because the runner decides which tasks run here')
  return {
    ...resolved,
    runWorker,
    isStoreOmitted: options.store === undefined,
    openEngine: typeof store === 'string' ? engineFactoryFor(store) : (log) => useEngine(store, log),
  }
}

function useEngine(engine: TaskEngine, log: Log): TaskEngine {
  engine.useLog?.(log)
  return engine
}

/** Of the store and of its notifications. The codec of claims may have a store of its own. */
const storeErrorNames: ReadonlySet<string | undefined> = new Set(['BusError', 'EngineError'])

/** Joins the options with what one server adds: engine, ledger, clock and log. */
export function createTaskContext(
  { openEngine, runtime, ...options }: ResolvedTaskOptions,
  host: ExtensionHost,
): TaskContext {
  const clock = runtime ?? host.runtime
  const outage = createOutageLog(host.log, 'The task store', clock)
  const storeFailures = new WeakSet<Error>()
  const isStoreFailure = (error: unknown): boolean =>
    (error instanceof Error && storeFailures.has(error)) || storeErrorNames.has(unavailableErrorIn(error)?.name)
  let isMissingPackageLogged = false
  const onError: TaskSettings['onError'] = (error, { taskId, ...context } = {}) => {
    if (isMissingModuleError(error)) {
      // Every call of the engine fails in the same way until the process is started again.
      if (isMissingPackageLogged) return
      isMissingPackageLogged = true
    }
    const digest = taskId !== undefined && { taskId: digestTaskId(taskId) }
    const record = errorRecord(error, { name: 'tasks', ...context, ...digest })
    if (isStoreFailure(error)) outage.fail(record)
    else host.log(record)
  }
  // The failures of its background work belong to the same outage, and its own lines about it would be second ones.
  const logOfEngine: Log = (record) => {
    if (record.level === 'error' && isStoreFailure(record.err)) outage.fail(record)
    else if (record.code !== unavailableCode && record.code !== availableCode) host.log(record)
  }
  const runInOrigin = captureAsyncContext()
  const engine = observeEngine(
    openEngine((record) => runInOrigin(() => logOfEngine(record))),
    {
      onAnswer: () => outage.succeed(),
      onFailure: (error) => void (error instanceof Error && storeFailures.add(error)),
    },
  )
  const bus = engine.notifications ?? host.bus ?? memoryBus()
  const { ledger } = host
  const { perCaller: callerLimit } = ledger.boundOf('tasks')
  const state = options.state ?? findServerState(options, host)
  return {
    innerExchange: host.innerExchange,
    emit: (event) => host.emit(event),
    settings: { ...options, state, engine, callerLimit, ledger, onError, clock },
    writeHealth: new WriteHealth(clock),
    taskChanges: new TaskChangeBus(bus, onError),
    dispatch: createDispatch(options.runner, clock, onError),
  }
}

/** A task whose claims no longer open must not run, so a codec of the server with a shorter life is not used. */
function findServerState(
  { ttlMs }: Pick<ResolvedTaskOptions, 'ttlMs'>,
  { state }: Pick<ExtensionHost, 'state'>,
): StateCodec | undefined {
  const codec: StateCodec | undefined = state
  const lifetimeMs = codec?.lifetimeMs ?? Number.POSITIVE_INFINITY
  return ttlMs !== null && ttlMs <= lifetimeMs ? codec : undefined
}
