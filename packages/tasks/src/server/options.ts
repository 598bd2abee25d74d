import {
  captureAsyncContext,
  type ChangeBus,
  checkOptions,
  type Clock,
  errorListener,
  type ErrorListener,
  type Ledger,
  memoryBus,
  errorRecord,
} from '@x/core'
import type { Exchange, ExtensionHost } from '@x/schema'
import type { StateCodec } from '@x/server'
import type { TaskEngine } from '../engines/engine.ts'
import { engineFactoryFor } from '../engines/engine-factory.ts'
import type { TaskChangeBus } from './task-change-bus.ts'

/** The options of the server extension `tasks`. */
export interface TaskOptions {
  /**
   * Stores the tasks. Shared by all instances that continue each other's tasks. Precedes `store`. It is closed with the
   * server.
   */
  readonly engine?: TaskEngine | undefined
  /**
   * The storage of the tasks, when no engine is given: `memory:` when absent, which loses them with the process.
   * `pglite:./.mcp-tasks` for one process that finds them again. `postgres://…` for a fleet. Another scheme is a
   * `RangeError`.
   */
  readonly store?: string | undefined
  /**
   * True when this instance creates tasks. Default: true. An instance that does not still answers requests about
   * tasks.
   */
  readonly acceptTasks?: boolean | undefined
  /** True when this instance runs tasks, its own and others'. Default: true. */
  readonly runWorker?: boolean | undefined
  /** Tasks that this instance runs at once. Default: 16. */
  readonly concurrency?: number | undefined
  /**
   * Milliseconds for which a task is stored after its last change of status: a day when absent, null for ever. Then it
   * is deleted, also one that has not ended.
   */
  readonly ttlMs?: number | null | undefined
  /**
   * Milliseconds that clients should leave between two polls of a task at most. Default: 1000. A young task is
   * polled more often, from 50 ms on.
   */
  readonly pollIntervalMs?: number | undefined
  /**
   * Times that a task is started again after its process died or stopped, without a recorded step in between. 5 when
   * absent.
   */
  readonly maxFailures?: number | undefined
  /**
   * Milliseconds for which a task of a tool that no instance has, as during a deployment, is requeued for other
   * instances before it fails. Default: 300,000.
   */
  readonly unsupportedTaskTimeoutMs?: number | undefined
  /**
   * Bytes of JSON that may be recorded of a task: results of steps, checkpoints, requests for input and responses.
   * 4,000,000 when absent, as much as a message may have. A task that would record more fails, with an error that names
   * the entry.
   */
  readonly maxJournalBytes?: number | undefined
  /**
   * Bytes of JSON that the result or the error of a task may have. Default: 4,000,000. A task with a longer one
   * fails.
   */
  readonly maxResultBytes?: number | undefined
  /**
   * Milliseconds that a handler has to end after its task was cancelled, before the task is `cancelled` without it.
   * Default: 5000.
   */
  readonly cancelGraceMs?: number | undefined
  /**
   * Carries notifications about tasks to the instances that stream them. When absent the engine does, as those over
   * PostgreSQL do for a fleet. With an engine that cannot, they stay within this instance.
   */
  readonly bus?: ChangeBus | undefined
  /**
   * Seals the credentials of a caller (`principal.claims`), to be stored with the task. When absent they are not
   * stored, and handlers of tasks run without.
   */
  readonly credentials?: StateCodec | undefined
  /**
   * Serves `tasks/result` and `tasks/input_response` as well, takes `task` in a call for the wish for a task, and needs
   * no declaration of the extension: the persistent workflow of SEP-2322. False when absent.
   */
  readonly persistentWorkflow?: boolean | undefined
  /**
   * Milliseconds between two polls for work that no notification announced, up to a quarter more or less. 5000 when
   * absent. Where notifications do not pass, the engine over PostgreSQL polls each second.
   */
  readonly workPollMs?: number | undefined
  /**
   * Receives every failure that the client does not see whole. The server's `log` when absent, none for `false`.
   */
  readonly onError?: ErrorListener<[error: unknown]>
  /** Time, for tests. That of the server's `runtime` when absent. */
  readonly runtime?: Clock | undefined
}

/** {@link TaskOptions} that were checked. */
export interface ResolvedTaskOptions
  extends Pick<TaskOptions, 'engine' | 'bus' | 'credentials' | 'onError' | 'runtime'>,
    ReturnType<typeof numericOptionsOf> {
  readonly acceptTasks: boolean
  readonly runWorker: boolean
  readonly persistentWorkflow: boolean
  /** True where neither an engine nor a store was given, so that tasks are in memory. */
  readonly isStoreOmitted: boolean
  readonly openEngine: (onError: (error: unknown) => void) => TaskEngine
}

/** The settings of one server's tasks. */
export interface TaskSettings extends Omit<ResolvedTaskOptions, 'openEngine' | 'isStoreOmitted' | 'runtime'> {
  readonly engine: TaskEngine
  /** Kept tasks of every status that one caller may have: the bound `tasks` of the server's ledger. */
  readonly callerLimit: number
  /** Counts the tasks that streams follow. */
  readonly ledger: Ledger
  readonly bus: ChangeBus
  readonly onError: (error: unknown) => void
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
  engine: true,
  store: true,
  acceptTasks: true,
  runWorker: true,
  concurrency: true,
  ttlMs: true,
  pollIntervalMs: true,
  maxFailures: true,
  unsupportedTaskTimeoutMs: true,
  maxJournalBytes: true,
  maxResultBytes: true,
  cancelGraceMs: true,
  bus: true,
  credentials: true,
  persistentWorkflow: true,
  workPollMs: true,
  onError: true,
  runtime: true,
} satisfies Record<keyof TaskOptions, true>

/**
 * Checks options and fills in defaults. Throws `RangeError` for an invalid number and an unknown store.
 */
export function resolveTaskOptions(options: TaskOptions): ResolvedTaskOptions {
  checkOptions(options, taskOptionNames, 'tasks')
  const { engine, bus, credentials, onError, runtime, store = 'memory:' } = options
  const { acceptTasks = true, runWorker = true, persistentWorkflow = false } = options
  return {
    engine,
    bus,
    credentials,
    onError,
    runtime,
    acceptTasks,
    runWorker,
    persistentWorkflow,
    ...numericOptionsOf(options),
    isStoreOmitted: engine === undefined && options.store === undefined,
    openEngine: engineFactoryFor(store),
  }
}

/** Completes options with the parts of one server: its engine, its clock and the receiver of its failures. */
export function resolveTaskSettings(
  { openEngine, runtime, ...options }: ResolvedTaskOptions,
  host: ExtensionHost,
): TaskSettings {
  const logError = (error: unknown): void => host.log(errorRecord(error, { method: 'extension' }))
  const onError = suppressListenerErrors(errorListener(options.onError ?? logError, '@x/tasks'))
  const runInOrigin = captureAsyncContext()
  const engine = options.engine ?? openEngine((error) => runInOrigin(() => onError(error)))
  const bus = options.bus ?? engine.notifications ?? memoryBus()
  const { ledger } = host
  const { perCaller: callerLimit } = ledger.boundOf('tasks')
  return { ...options, engine, callerLimit, ledger, bus, onError, clock: runtime ?? host.runtime }
}

/** A little less than a message of the transports may have, which has an envelope as well. */
const defaultMaxBytes = 4_000_000

const defaults = {
  concurrency: 16,
  pollIntervalMs: 1000,
  maxFailures: 5,
  unsupportedTaskTimeoutMs: 300_000,
  maxJournalBytes: defaultMaxBytes,
  maxResultBytes: defaultMaxBytes,
  cancelGraceMs: 5000,
  workPollMs: 5000,
}

function numericOptionsOf(options: TaskOptions) {
  const readNumericOption = (name: keyof typeof defaults): number =>
    requirePositiveInteger(name, options[name] ?? defaults[name])
  return {
    ttlMs: options.ttlMs === null ? null : requirePositiveInteger('ttlMs', options.ttlMs ?? 86_400_000),
    concurrency: readNumericOption('concurrency'),
    pollIntervalMs: readNumericOption('pollIntervalMs'),
    maxFailures: readNumericOption('maxFailures'),
    unsupportedTaskTimeoutMs: readNumericOption('unsupportedTaskTimeoutMs'),
    maxJournalBytes: readNumericOption('maxJournalBytes'),
    maxResultBytes: readNumericOption('maxResultBytes'),
    cancelGraceMs: readNumericOption('cancelGraceMs'),
    workPollMs: readNumericOption('workPollMs'),
  }
}

function requirePositiveInteger(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new RangeError(`${name} is ${value}; write a whole number from 1`)
}

/** Drops errors of `onError` itself: a task must not depend on how errors are logged. */
function suppressListenerErrors(onError: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      onError(error)
    } catch {
      // No other receiver exists.
    }
  }
}
