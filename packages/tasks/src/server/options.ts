import {
  captureAsyncContext,
  type ChangeBus,
  checkedNumber,
  checkOptions,
  type Clock,
  errorRecord,
  type Ledger,
  type Log,
  type LogContext,
  memoryBus,
} from '@x/core'
import type { Exchange, ExtensionHost } from '@x/schema'
import type { StateCodec } from '@x/server'
import type { TaskEngine } from '../engines/engine.ts'
import { engineFactoryFor } from '../engines/engine-factory.ts'
import type { TaskChangeBus } from './task-change-bus.ts'

/** The options of the server extension `tasks`. */
export interface TaskOptions {
  /**
   * The storage of the tasks, which all instances share that continue each other's tasks: an address, or an engine,
   * which is closed with the server. `memory:` loses the tasks with the process. `pglite:./.mcp-tasks` is for one
   * process that finds them again, and `postgres://…` for a fleet. Another scheme is a `RangeError`. Default:
   * `memory:`.
   */
  readonly store?: string | TaskEngine | undefined
  /** True when this instance runs tasks, its own and others'. Default: true. */
  readonly runWorker?: boolean | undefined
  /** Tasks that this instance runs at once. Default: 16. */
  readonly concurrency?: number | undefined
  /**
   * Milliseconds for which a task is stored after its last change of status, null for ever. Then it is deleted, also
   * one that has not ended. Default: a day.
   */
  readonly ttlMs?: number | null | undefined
  /**
   * The longest interval between two polls of a task that is suggested to clients, in milliseconds. A young task is
   * polled more often, from 50 ms on. Default: 1000.
   */
  readonly pollIntervalMs?: number | undefined
  /**
   * Times that a task is started again after its process died or stopped, without a recorded step in between. Default:
   * 5.
   */
  readonly maxFailures?: number | undefined
  /**
   * Seals the claims of a caller (`principal.claims`), to be stored with the task until it ends. It has to open a token
   * repeatedly, and to encrypt it. Without it claims are not stored, and handlers of tasks run without.
   */
  readonly state?: StateCodec | undefined
  /**
   * True for the persistent workflow of SEP-2322: the server also serves `tasks/result` and `tasks/input_response`,
   * takes `task` in a call as the request for a task, and needs no declaration of the extension. Default: false.
   */
  readonly persistentWorkflow?: boolean | undefined
  /** Time, for tests. Default: the server's `runtime`. */
  readonly runtime?: Clock | undefined
}

/** {@link TaskOptions} that were checked. */
export interface ResolvedTaskOptions
  extends Pick<TaskOptions, 'state' | 'runtime'>,
    ReturnType<typeof numericOptionsOf> {
  readonly runWorker: boolean
  readonly persistentWorkflow: boolean
  /** True where no store was given, so that tasks are in memory. */
  readonly isStoreOmitted: boolean
  readonly openEngine: (log: Log) => TaskEngine
}

/** The settings of one server's tasks. */
export interface TaskSettings extends Omit<ResolvedTaskOptions, 'openEngine' | 'isStoreOmitted' | 'runtime'> {
  readonly engine: TaskEngine
  /** Kept tasks of every status that one caller may have: the bound `tasks` of the server's ledger. */
  readonly callerLimit: number
  /** Counts the tasks that streams follow. */
  readonly ledger: Ledger
  readonly bus: ChangeBus
  /** Writes an error to the server's log. Never throws. */
  readonly onError: (error: unknown, context?: LogContext) => void
  readonly clock: Clock
}

/** The parts that all functions of the tasks of one server share. */
export interface TaskContext {
  /** The server behind the middleware of all other extensions, without `use` and authorization. It runs tasks. */
  readonly innerExchange: Exchange
  readonly settings: TaskSettings
  readonly taskChanges: TaskChangeBus
}

const taskOptionNames = {
  store: true,
  runWorker: true,
  concurrency: true,
  ttlMs: true,
  pollIntervalMs: true,
  maxFailures: true,
  state: true,
  persistentWorkflow: true,
  runtime: true,
} satisfies Record<keyof TaskOptions, true>

/**
 * Checks options and fills in defaults. Throws `RangeError` for an invalid number and an unknown store.
 */
export function resolveTaskOptions(options: TaskOptions): ResolvedTaskOptions {
  checkOptions(options, taskOptionNames, 'tasks')
  const { state, runtime, store = 'memory:', runWorker = true, persistentWorkflow = false } = options
  return {
    state,
    runtime,
    runWorker,
    persistentWorkflow,
    ...numericOptionsOf(options),
    isStoreOmitted: options.store === undefined,
    openEngine: typeof store === 'string' ? engineFactoryFor(store) : () => store,
  }
}

/** Completes options with the parts of one server: its engine, its clock and the receiver of its failures. */
export function resolveTaskSettings(
  { openEngine, runtime, ...options }: ResolvedTaskOptions,
  host: ExtensionHost,
): TaskSettings {
  const onError: TaskSettings['onError'] = (error, context) =>
    host.log(errorRecord(error, { name: 'tasks', ...context }))
  const runInOrigin = captureAsyncContext()
  const engine = openEngine((record) => runInOrigin(() => host.log(record)))
  const bus = engine.notifications ?? host.bus ?? memoryBus()
  const { ledger } = host
  const { perCaller: callerLimit } = ledger.boundOf('tasks')
  return { ...options, engine, callerLimit, ledger, bus, onError, clock: runtime ?? host.runtime }
}

const defaults = { concurrency: 16, pollIntervalMs: 1000, maxFailures: 5, ttlMs: 86_400_000 }

function numericOptionsOf(options: TaskOptions) {
  const readNumericOption = (name: keyof typeof defaults): number =>
    checkedNumber(name, options[name] ?? defaults[name])
  return {
    ttlMs: options.ttlMs === null ? null : readNumericOption('ttlMs'),
    concurrency: readNumericOption('concurrency'),
    pollIntervalMs: readNumericOption('pollIntervalMs'),
    maxFailures: readNumericOption('maxFailures'),
  }
}
