import { type Clock, platformClock } from '@x/schema'
import { type ChangeBus, memoryBus, type StateCodec } from '@x/server'
import type { TaskEngine } from '../engines/engine.ts'
import { storeEngine, type TaskStore } from '../engines/store-engine.ts'

/** How a server takes calls on as tasks. */
export interface TaskOptions {
  /** Keeps the tasks; shared by all instances that are to carry on each other's tasks. Goes before `store`. */
  readonly engine?: TaskEngine | undefined
  /**
   * Where tasks are kept, when no engine is given: `memory:` when absent, which loses them with the process; `pglite:./.mcp-tasks` for
   * one process that is to find them again; `postgres://…` for a fleet.
   */
  readonly store?: TaskStore | undefined
  /** Whether this instance takes tasks on; true when absent. One that does not answers about tasks nonetheless. */
  readonly accepts?: boolean | undefined
  /** Whether this instance works on tasks, its own and others'; true when absent. */
  readonly works?: boolean | undefined
  /** How many tasks this instance works on at once; 16 when absent. */
  readonly concurrency?: number | undefined
  /**
   * For how many milliseconds a task is kept after its status last changed: a day when absent, null for ever. What is left then is
   * deleted, whether it has ended or not.
   */
  readonly ttlMs?: number | null | undefined
  /** Milliseconds that clients should leave between two looks at a task; 1000 when absent. */
  readonly pollIntervalMs?: number | undefined
  /** How many tasks that have not ended one principal may have, and all callers without one together; 1000 when absent. */
  readonly maxTasksPerPrincipal?: number | undefined
  /** How often a task is begun again after its process died or stood still, without a step done in between; 5 when absent. */
  readonly maxFailures?: number | undefined
  /**
   * For how many milliseconds a task of a tool that no instance knows, which may be one of a version that is being deployed, is left to other
   * instances before it fails; 300,000 when absent.
   */
  readonly maxUnservedMs?: number | undefined
  /**
   * How many bytes of JSON may be recorded of a task: what its steps gave, its checkpoints, what was asked and answered. 4,000,000 when absent, as much
   * as a message may have. A task that would record more fails, and says with what.
   */
  readonly maxJournalBytes?: number | undefined
  /** How many bytes of JSON the result of a task may have, or its error; 4,000,000 when absent. A task with a longer one fails, and says so. */
  readonly maxResultBytes?: number | undefined
  /** Milliseconds that a handler has to end after its task was cancelled, before the task is `cancelled` without it; 5000 when absent. */
  readonly cancelGraceMs?: number | undefined
  /**
   * Carries the news of tasks to the instance where somebody listens to them. When absent the engine does, as those over PostgreSQL do for a
   * fleet; of an engine that cannot, news stay within this instance.
   */
  readonly bus?: ChangeBus | undefined
  /**
   * Seals what else than its name proves a caller (`principal.claims`), to be kept with the task. When absent none of it is kept,
   * and handlers of tasks run without.
   */
  readonly credentials?: StateCodec | undefined
  /** Serves `tasks/result` and `tasks/input_response` as well, the persistent workflow of SEP-2322; false when absent. */
  readonly persistentWorkflow?: boolean | undefined
  /** Whether results about tasks say which server they come from; true when absent (basic/index, `_meta`). */
  readonly serverInfo?: boolean | undefined
  /** Milliseconds between two looks for work that nobody told of; 1000 when absent. */
  readonly lookForWorkMs?: number | undefined
  /** Is told of every failure that the client does not see whole. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** The platform's when absent. */
  readonly clock?: Clock | undefined
}

/** {@link TaskOptions} with what is absent filled in. */
export interface TaskSettings {
  readonly engine: TaskEngine
  readonly accepts: boolean
  readonly works: boolean
  readonly concurrency: number
  readonly ttlMs: number | null
  readonly pollIntervalMs: number
  readonly maxTasksPerPrincipal: number
  readonly maxFailures: number
  readonly maxUnservedMs: number
  readonly maxJournalBytes: number
  readonly maxResultBytes: number
  readonly cancelGraceMs: number
  readonly persistentWorkflow: boolean
  readonly serverInfo: boolean
  readonly lookForWorkMs: number
  readonly bus: ChangeBus
  readonly credentials: StateCodec | undefined
  readonly onError: (error: unknown) => void
  readonly clock: Clock
}

/** Fills in what is absent. Throws `RangeError` for a number that makes no sense, and for a store that there is no engine of. */
export function taskSettings(options: TaskOptions): TaskSettings {
  const onError = quietly(options.onError)
  const engine = options.engine ?? storeEngine(options.store ?? 'memory:', onError)
  return {
    engine,
    credentials: options.credentials,
    ...switchesOf(options),
    ...numbersOf(options),
    bus: options.bus ?? engine.news ?? memoryBus(),
    onError,
    clock: options.clock ?? platformClock,
  }
}

function switchesOf({ accepts, works, persistentWorkflow, serverInfo }: TaskOptions) {
  return {
    accepts: accepts ?? true,
    works: works ?? true,
    persistentWorkflow: persistentWorkflow ?? false,
    serverInfo: serverInfo ?? true,
  }
}

/** A little less than the messages of the transports may have, which carry what is around it as well. */
const usualBytes = 4_000_000

/** What each number is when it is absent. */
const usual = {
  concurrency: 16,
  pollIntervalMs: 1000,
  maxTasksPerPrincipal: 1000,
  maxFailures: 5,
  maxUnservedMs: 300_000,
  maxJournalBytes: usualBytes,
  maxResultBytes: usualBytes,
  cancelGraceMs: 5000,
  lookForWorkMs: 1000,
}

function numbersOf(options: TaskOptions) {
  const number = (name: keyof typeof usual): number => whole(name, options[name] ?? usual[name])
  return {
    ttlMs: options.ttlMs === null ? null : whole('ttlMs', options.ttlMs ?? 86_400_000),
    concurrency: number('concurrency'),
    pollIntervalMs: number('pollIntervalMs'),
    maxTasksPerPrincipal: number('maxTasksPerPrincipal'),
    maxFailures: number('maxFailures'),
    maxUnservedMs: number('maxUnservedMs'),
    maxJournalBytes: number('maxJournalBytes'),
    maxResultBytes: number('maxResultBytes'),
    cancelGraceMs: number('cancelGraceMs'),
    lookForWorkMs: number('lookForWorkMs'),
  }
}

function whole(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new RangeError(`${name} is ${value}; write a whole number from 1`)
}

/** An `onError` that fails changes nothing: a task must not depend on how errors are written down. */
function quietly(onError: TaskOptions['onError']): (error: unknown) => void {
  return (error) => {
    try {
      onError?.(error)
    } catch {
      // Nobody is left to be told.
    }
  }
}
