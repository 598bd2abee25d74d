import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import type { ScheduledEvent, VirtualTime } from './virtual-time.ts'

/** The time of day at which each simulation begins, in milliseconds since 1970. */
const startOfTime = Date.UTC(2026, 0, 1)

/** The sources of time and chance of one simulation. */
export interface SimulatedPlatform {
  readonly time: VirtualTime
  /** Returns a number from 0 to below 1, for the packages. */
  readonly random: () => number
  /**
   * Returns a number from 0 to below 1, for keys and ids. Packages draw those in blocks, so a source of its own keeps
   * the size of a block from changing anything else.
   */
  readonly randomForBytes: () => number
}

/** A handle of a timer, with the members that Node has. */
class TimerHandle {
  event: ScheduledEvent
  readonly #restart: () => ScheduledEvent

  constructor(start: () => ScheduledEvent) {
    this.#restart = start
    this.event = start()
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }

  refresh(): this {
    this.event.isCancelled = true
    this.event = this.#restart()
    return this
  }
}

/**
 * Replaces every source of time and chance of this process by those of the current simulation. It must run before any
 * package is loaded, because some read their timers at that moment. Returns a function that sets the simulation.
 */
export function replaceGlobals(): (platform: SimulatedPlatform) => void {
  let platform: SimulatedPlatform | undefined
  const current = (): SimulatedPlatform => {
    if (platform === undefined) throw new Error('No simulation runs, so there is no time')
    return platform
  }
  replaceTime(current)
  replaceTimers(current)
  replaceChance(current)
  replaceDigest()
  syncBuiltinESMExports()
  return (next) => {
    platform = next
  }
}

function replaceTime(current: () => SimulatedPlatform): void {
  Date.now = () => {
    const { time } = current()
    return startOfTime + Math.floor(time.now() + (time.currentHost?.clockOffsetMs ?? 0))
  }
  Object.defineProperty(performance, 'now', { value: () => current().time.now(), configurable: true })
}

type Callback = (...args: unknown[]) => void

function replaceTimers(current: () => SimulatedPlatform): void {
  const startTimer = (callback: Callback, ms: unknown, args: unknown[]): TimerHandle => {
    const { time } = current()
    const host = time.currentHost
    const delayMs = Number(ms) >= 1 ? Number(ms) : 1
    return new TimerHandle(() => time.schedule(host, delayMs, () => callback(...args)))
  }
  const clear = (handle: unknown): void => {
    if (handle instanceof TimerHandle) handle.event.isCancelled = true
  }
  const replacements = {
    setTimeout: (callback: Callback, ms?: number, ...args: unknown[]) => startTimer(callback, ms, args),
    clearTimeout: clear,
    setInterval: (callback: Callback, ms?: number, ...args: unknown[]) => {
      const handle = startTimer(
        () => {
          handle.refresh()
          callback(...args)
        },
        ms,
        [],
      )
      return handle
    },
    clearInterval: clear,
    setImmediate: (callback: Callback, ...args: unknown[]) => {
      const { time } = current()
      return new TimerHandle(() => time.schedule(time.currentHost, 0, () => callback(...args)))
    },
    clearImmediate: clear,
  }
  Object.assign(globalThis, replacements)
}

function replaceChance(current: () => SimulatedPlatform): void {
  const fill = (bytes: Uint8Array): Uint8Array => {
    const { randomForBytes } = current()
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = Math.floor(randomForBytes() * 256)
    return bytes
  }
  const randomBytes = (size: number): Buffer => Buffer.from(fill(new Uint8Array(size)))
  Math.random = () => current().random()
  const getRandomValues = <T extends ArrayBufferView>(view: T): T => {
    fill(new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
    return view
  }
  // RFC 9562, version 4.
  const randomUUID = (): string => {
    const bytes = randomBytes(16)
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5')
  }
  for (const [name, value] of Object.entries({ getRandomValues, randomUUID }))
    Object.defineProperty(globalThis.crypto, name, { value, configurable: true })
  Object.assign(crypto, { randomBytes, randomUUID })
}

/** Computes digests in this thread. The time at which another thread has one cannot be simulated. */
function replaceDigest(): void {
  const digest = async (_algorithm: 'SHA-256', data: Uint8Array): Promise<ArrayBuffer> =>
    Uint8Array.from(crypto.createHash('sha256').update(data).digest()).buffer
  Object.defineProperty(globalThis.crypto.subtle, 'digest', { value: digest, configurable: true })
}
