import {
  captureAsyncContext,
  type ChangeBus,
  type Clock,
  errorRecord,
  isMissingModuleError,
  type Ledger,
  type Log,
  type LogContext,
  memoryBus,
  type OptionTable,
  type ResolvedOptions,
  resolveOptions,
} from '@x/core'
import type { Exchange, ExtensionHost } from '@x/exchange'
import type { StateCodec } from '@x/server'
import type { TaskEngine } from '../engines/engine.ts'
import { engineFactoryFor } from '../engines/engine-factory.ts'
import { digestTaskId } from './task-digest.ts'
import { createTaskChangeBus, type TaskChangeBus } from './task-change-bus.ts'
import { createWriteHealth, type WriteHealth } from './write-health.ts'
import { createDispatch, type Dispatch, type TaskRunner } from './task-runner.ts'

/** The options of the server extension `tasks`. */
export interface TaskOptions {
  /**
   * The storage of the tasks, as an address or as an engine. Instances that continue each other's tasks need the same
   * storage. The server closes an engine that is given here. `memory:` loses the tasks when the process ends.
   * `pglite:./.mcp-tasks` keeps them in a folder for one process. `postgres://…` and `redis://…` (or `postgresql://`,
   * `rediss://`) are for several instances. Another scheme throws `RangeError`. Default: `memory:`.
   */
  readonly store?: string | TaskEngine | undefined
  /**
   * True if this instance runs tasks, also those that other instances have created. Default: true, and false with a
   * `runner`.
   */
  readonly runWorker?: boolean | undefined
  /**
   * Decides where and when tasks run, by calls of `server.tasks.run`. Then an instance claims a task only in such a
   * call. A runner together with `runWorker: true` throws `RangeError`. Default: the workers of the instances run
   * tasks.
   */
  readonly runner?: TaskRunner | undefined
  /** The largest number of tasks that this instance runs at once. Default: 16. */
  readonly concurrency?: number | undefined
  /**
   * A task is deleted this many milliseconds after its status last changed, even if it has not ended. The cancellation
   * of a task that no worker runs does not prolong it. If a caller has reached its limit of tasks, by default 1,000,
   * its oldest ended task is deleted earlier. With null, tasks are stored for ever. Default: a day.
   */
  readonly ttlMs?: number | null | undefined
  /**
   * The longest poll interval that the server suggests to clients, in milliseconds. For a young task it suggests a
   * shorter one, from 50 ms. Default: 1000.
   */
  readonly pollIntervalMs?: number | undefined
  /**
   * The number of times that a lease of a task may expire without a recorded step in between, because its process died
   * or hung. After that the task fails. Default: 5.
   */
  readonly maxFailures?: number | undefined
  /**
   * The codec that encrypts the claims of a caller (`principal.claims`), which are stored with the task until it ends.
   * It must be able to open the same token several times. Default: the `state` of the server, if its tokens live as long
   * as tasks (`maxAgeMs` of the codec, `ttlMs` here). Without a codec claims are not stored, and handlers of tasks run
   * without claims.
   */
  readonly state?: StateCodec | undefined
  /**
   * True for the persistent workflow of SEP-2322. Then the server also serves `tasks/result` and
   * `tasks/input_response`, and treats `task` in a call as the request for a task. Clients need not declare the
   * extension. Default: false.
   */
  readonly persistentWorkflow?: boolean | undefined
  /** The clock, for tests. Default: the server's `runtime`. */
  readonly runtime?: Clock | undefined
}

/** Checked {@link TaskOptions}, with defaults. */
export interface ResolvedTaskOptions
  extends Omit<ResolvedOptions<TaskOptions, typeof taskOptionTable>, 'store' | 'runWorker'> {
  readonly runWorker: boolean
  /** True if the options have no `store`. Then tasks are stored in memory. */
  readonly isStoreOmitted: boolean
  readonly openEngine: (log: Log) => TaskEngine
}

/** The settings of one server's tasks. */
export interface TaskSettings extends Omit<ResolvedTaskOptions, 'openEngine' | 'isStoreOmitted' | 'runtime'> {
  readonly engine: TaskEngine
  /**
   * The largest number of stored tasks, of every status, that one caller may have. It is the bound `tasks` of the
   * server's ledger.
   */
  readonly callerLimit: number
  /** The ledger that counts the tasks that streams follow. */
  readonly ledger: Ledger
  readonly bus: ChangeBus
  /** Writes an error to the server's log. Never throws. */
  readonly onError: (error: unknown, context?: LogContext) => void
  readonly clock: Clock
}

/** The state of the extension in one server, which its functions share. */
export interface TaskContext {
  /**
   * The exchange with which workers run the calls of tasks. It includes the middleware of the other extensions, but
   * neither the middleware of `use` nor authorization.
   */
  readonly innerExchange: Exchange
  readonly settings: TaskSettings
  readonly writeHealth: WriteHealth
  readonly taskChanges: TaskChangeBus
  /** Emits an event of the server. */
  readonly emit: ExtensionHost['emit']
  readonly dispatch: Dispatch
}

const taskOptionTable = {
  store: undefined,
  runWorker: undefined,
  runner: undefined,
  concurrency: 16,
  // limit: ms | a task after its last change | deleted
  ttlMs: { default: 86_400_000, isNullable: true },
  pollIntervalMs: 1000,
  // limit: count | crashes in a row without a completed step | the task fails
  maxFailures: 5,
  state: undefined,
  persistentWorkflow: false,
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
    openEngine: typeof store === 'string' ? engineFactoryFor(store) : () => store,
  }
}

/**
 * Creates the state of the extension in one server: the options with the engine, the bus, the ledger, the clock, and the
 * function that logs errors.
 */
export function createTaskContext(
  { openEngine, runtime, ...options }: ResolvedTaskOptions,
  host: ExtensionHost,
): TaskContext {
  let isMissingPackageLogged = false
  const onError: TaskSettings['onError'] = (error, { taskId, ...context } = {}) => {
    if (isMissingModuleError(error)) {
      // Every call of the engine fails in the same way until the process is started again.
      if (isMissingPackageLogged) return
      isMissingPackageLogged = true
    }
    host.log(
      errorRecord(error, { name: 'tasks', ...context, ...(taskId !== undefined && { taskId: digestTaskId(taskId) }) }),
    )
  }
  const runInOrigin = captureAsyncContext()
  const clock = runtime ?? host.runtime
  const engine = openEngine((record) => runInOrigin(() => host.log(record)))
  const bus = engine.notifications ?? host.bus ?? memoryBus()
  const { ledger } = host
  const { perCaller: callerLimit } = ledger.boundOf('tasks')
  const state = options.state ?? findServerState(options, host)
  return {
    innerExchange: host.innerExchange,
    emit: (event) => host.emit(event),
    settings: { ...options, state, engine, callerLimit, ledger, bus, onError, clock },
    writeHealth: createWriteHealth(clock),
    taskChanges: createTaskChangeBus(bus, onError),
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
