import { type Clock, platformClock } from '@x/schema'
import type { TaskHandle } from './task-handle.ts'

/** How often a task is looked at, in milliseconds. */
export interface PollingOptions {
  /** Between two looks where the server says nothing; 1000 when absent. */
  readonly usualMs?: number | undefined
  /** The least, whatever the server says; 50 when absent. */
  readonly leastMs?: number | undefined
  /** The most, whatever the server says; an hour when absent. */
  readonly mostMs?: number | undefined
  /** Between two looks while the server tells of changes by itself, unless it asks for more; 30,000 when absent. */
  readonly behindMs?: number | undefined
}

/** How a client follows tasks. */
export interface TasksClientOptions {
  /** Which server this is, for tasks that are kept. Default: the connection's `url`. */
  readonly target?: string | undefined
  /** Whose tasks these are, for those that are kept: the user whom the server authenticates, or null where it does not. */
  readonly user?: string | null | undefined
  /**
   * `poll`: ask how it stands, as often as the server wants. `listen`: have the server tell, over one more request that lasts for each task,
   * and ask now and then behind it. Default `poll`.
   */
  readonly follow?: 'poll' | 'listen' | undefined
  readonly polling?: PollingOptions | undefined
  /** How long nothing may be had from the server until following ends, in milliseconds; 120,000 when absent. */
  readonly patienceMs?: number | undefined
  /** How long a task may take until following ends, in milliseconds; a day when absent. */
  readonly maxTaskMs?: number | undefined
  /**
   * What becomes of the task when `callTool` rejects before it has ended, as it does when its signal aborts: `cancel` asks the server to
   * cancel it, because nobody has its handle; `leave` lets it go on. Default `cancel`.
   */
  readonly whenAbandoned?: 'cancel' | 'leave' | undefined
  /** Told when a call goes on as a task, and waited for: a place to keep it, so that another process can go on with it. */
  readonly onTask?: ((task: TaskHandle) => void | Promise<void>) | undefined
  /** The platform's when absent. */
  readonly clock?: Clock | undefined
  /** Chance, from 0 to below 1; the platform's when absent. */
  readonly random?: (() => number) | undefined
}

/** The bounds of {@link PollingOptions}, filled in. */
export type Polling = { readonly [K in keyof PollingOptions]-?: number }

/** {@link TasksClientOptions} with what is absent filled in. */
export interface TasksClientSettings {
  readonly target: string | undefined
  readonly user: string | null | undefined
  readonly listens: boolean
  readonly polling: Polling
  readonly patienceMs: number
  readonly maxTaskMs: number
  readonly cancelsAbandoned: boolean
  readonly onTask: TasksClientOptions['onTask']
  readonly clock: Clock
  readonly random: () => number
}

/** Fills in what is absent. Throws `RangeError` for a number of milliseconds that makes no sense. */
export function tasksSettings(options: TasksClientOptions, url: string | undefined): TasksClientSettings {
  const { target = url, user, onTask, clock = platformClock, random = Math.random } = options
  return {
    target,
    user,
    onTask,
    clock,
    random,
    listens: options.follow === 'listen',
    cancelsAbandoned: options.whenAbandoned !== 'leave',
    polling: pollingOf(options.polling),
    patienceMs: milliseconds('patienceMs', options.patienceMs, 120_000),
    maxTaskMs: milliseconds('maxTaskMs', options.maxTaskMs, 86_400_000),
  }
}

function pollingOf({ usualMs, leastMs, mostMs, behindMs }: PollingOptions = {}): Polling {
  return {
    usualMs: milliseconds('polling.usualMs', usualMs, 1000),
    leastMs: milliseconds('polling.leastMs', leastMs, 50),
    mostMs: milliseconds('polling.mostMs', mostMs, 3_600_000),
    behindMs: milliseconds('polling.behindMs', behindMs, 30_000),
  }
}

// The platforms' timers hold 31 bits.
const maxTimer = 2_147_483_647

function milliseconds(name: string, value: number | undefined, usual: number): number {
  const chosen = value ?? usual
  if (chosen > 0 && chosen <= maxTimer) return chosen
  throw new RangeError(`${name} must be milliseconds above 0, at most ${maxTimer}: got ${chosen}`)
}
