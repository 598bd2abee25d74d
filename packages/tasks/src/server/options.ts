import {
  captureAsyncContext,
  type ChangeBus,
  checkOptions,
  type Clock,
  errorListener,
  type ErrorListener,
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
   * Stores the tasks. Shared by all instances that continue each other's tasks. Goes before `store`. It is closed with
   * the server.
   */
  readonly engine?: TaskEngine | undefined
  /**
   * The storage of the tasks, when no engine is given: `memory:` when absent, which loses them with the process.
   * `pglite:./.mcp-tasks` for one process that finds them again. `postgres://…` for a fleet. Another scheme is a
   * `RangeError`.
   */
  readonly store?: string | undefined
  /**
   * Lets this instance make tasks of calls. Default: true. One that does not answers requests about tasks
   * nonetheless.
   */
  readonly acceptTasks?: boolean | undefined
  /** True when this instance works on tasks, its own and others'. Default: true. */
  readonly runWorker?: boolean | undefined
  /** Tasks that this instance works on at once. Default: 16. */
  readonly concurrency?: number | undefined
  /**
   * Milliseconds for which a task is stored after its status last changed: a day when absent, null for ever. It is
   * deleted then, whether it has ended or not.
   */
  readonly ttlMs?: number | null | undefined
  /**
   * Milliseconds that clients should leave between two polls of a task at most. Default: 1000. A young task is
   * polled more often, from 50 ms on.
   */
  readonly pollIntervalMs?: number | undefined
  /**
   * Tasks that have not ended which one caller may have. Default: 1000. A caller is a principal, or the address of
   * those without one (`clientAddress` of the transport).
   */
  readonly maxTasksPerCaller?: number | undefined
  /**
   * Times that a task begins again after its process died or was suspended, without a step done in between. 5 when
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
  /** Milliseconds between two polls for work that no notification announced. Default: 1000. */
  readonly workPollMs?: number | undefined
  /**
   * Receives every failure that the client does not see whole. Default: the server's `onError`, `false` for none.
   */
  readonly onError?: ErrorListener<[error: unknown]>
  /** Time, for tests. Default: that of the server's `runtime`. */
  readonly runtime?: Clock | undefined
}

/** {@link TaskOptions} that were checked. */
export interface ResolvedTaskOptions
  extends Pick<TaskOptions, 'engine' | 'bus' | 'credentials' | 'onError' | 'runtime'>,
    ReturnType<typeof numericOptionsOf> {
  readonly acceptTasks: boolean
  readonly runWorker: boolean
  readonly persistentWorkflow: boolean
  readonly openEngine: (onError: (error: unknown) => void) => TaskEngine
}

/** The settings of one server's tasks. */
export interface TaskSettings extends Omit<ResolvedTaskOptions, 'openEngine' | 'runtime'> {
  readonly engine: TaskEngine
  readonly bus: ChangeBus
  readonly onError: (error: unknown) => void
  readonly clock: Clock
}

/** The parts that everything about the tasks of one server shares. */
export interface TaskContext {
  /**
   * The server behind the middleware of all other extensions, without `use` and authorization: it runs the calls of
   * tasks.
   */
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
  maxTasksPerCaller: true,
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
 * Checks options and fills in defaults. Throws `RangeError` for a number that makes no sense, and for an unknown store.
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
    openEngine: engineFactoryFor(store),
  }
}

/** Completes options with the parts of one server: its engine, its clock and the receiver of its failures. */
export function resolveTaskSettings(
  { openEngine, runtime, ...options }: ResolvedTaskOptions,
  host: ExtensionHost,
): TaskSettings {
  const onError = suppressListenerErrors(errorListener(options.onError ?? host.report, '@x/tasks'))
  const runInOrigin = captureAsyncContext()
  const engine = options.engine ?? openEngine((error) => runInOrigin(() => onError(error)))
  const bus = options.bus ?? engine.notifications ?? memoryBus()
  return { ...options, engine, bus, onError, clock: runtime ?? host.runtime }
}

/** A little less than a message of the transports may have, which has an envelope as well. */
const defaultMaxBytes = 4_000_000

const defaults = {
  concurrency: 16,
  pollIntervalMs: 1000,
  maxTasksPerCaller: 1000,
  maxFailures: 5,
  unsupportedTaskTimeoutMs: 300_000,
  maxJournalBytes: defaultMaxBytes,
  maxResultBytes: defaultMaxBytes,
  cancelGraceMs: 5000,
  workPollMs: 1000,
}

function numericOptionsOf(options: TaskOptions) {
  const readNumericOption = (name: keyof typeof defaults): number =>
    requirePositiveInteger(name, options[name] ?? defaults[name])
  return {
    ttlMs: options.ttlMs === null ? null : requirePositiveInteger('ttlMs', options.ttlMs ?? 86_400_000),
    concurrency: readNumericOption('concurrency'),
    pollIntervalMs: readNumericOption('pollIntervalMs'),
    maxTasksPerCaller: readNumericOption('maxTasksPerCaller'),
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

/** An `onError` that throws changes nothing: a task must not depend on the way in which errors are logged. */
function suppressListenerErrors(onError: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      onError(error)
    } catch {
      // Its own failure has no other receiver.
    }
  }
}
