import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { replaceProcesses } from './replace-processes.ts'
import type { ScheduledEvent, VirtualTime } from './virtual-time.ts'

/** The time of day at which each simulation begins, in milliseconds since 1970. */
const startOfTime = Date.UTC(2026, 0, 1)

/** The clock and the random functions of one simulation. */
export interface SimulatedPlatform {
  readonly time: VirtualTime
  /** Returns a number from 0 to below 1, for the packages. */
  readonly random: () => number
  /**
   * Returns a number from 0 to below 1, for keys and ids. Packages request their bytes in blocks. With a separate
   * sequence, the size of a block does not change other random numbers.
   */
  readonly randomForBytes: () => number
}

/** A timer handle with the members of Node's. */
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
 * Replaces the clocks, timers and random functions of this process with those of the current simulation. It must run
 * before a package is loaded, because some packages read their timers then. Returns a function that sets the current
 * simulation.
 */
export function replaceGlobals(): (platform: SimulatedPlatform) => void {
  let platform: SimulatedPlatform | undefined
  const current = (): SimulatedPlatform => {
    if (platform === undefined) throw new Error('No simulation is running')
    return platform
  }
  replaceTime(current)
  replaceTimers(current)
  replaceRandom(current)
  replaceDigest()
  replaceProcesses(() => current().time.currentHost)
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

function replaceRandom(current: () => SimulatedPlatform): void {
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

/** Computes digests in this thread, because the completion time of another thread cannot be simulated. */
function replaceDigest(): void {
  const digest = async (_algorithm: 'SHA-256', data: Uint8Array): Promise<ArrayBuffer> =>
    Uint8Array.from(crypto.createHash('sha256').update(data).digest()).buffer
  Object.defineProperty(globalThis.crypto.subtle, 'digest', { value: digest, configurable: true })
}
