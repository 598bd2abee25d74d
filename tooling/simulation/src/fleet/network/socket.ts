import { Duplex } from 'node:stream'
import type { Faults } from '../faults/faults.ts'
import type { Host, VirtualTime } from '../platform/virtual-time.ts'

/** One end of a simulated connection. Its bytes arrive at the other end in order, each chunk after a delay. */
export class SimulatedSocket extends Duplex {
  readonly remoteAddress = '127.0.0.1'
  readonly host: Host
  peer: SimulatedSocket | undefined
  /** False at a server that has not accepted the connection yet. */
  isOpen = true
  /** Returns the part of a chunk that arrives at the other end. Undefined once nothing arrives any more. */
  onTransfer: (chunk: Uint8Array) => Uint8Array | undefined = (chunk) => chunk
  /** True if the other end is not notified of anything, as behind a broken router. */
  isSilent = false
  readonly #time: VirtualTime
  readonly #faults: Faults
  #lastArrival = 0
  /** What was sent at the current time, and arrives as one packet. */
  #packet: { readonly sentAt: number; readonly parts: ((peer: SimulatedSocket) => void)[] } | undefined

  constructor(host: Host, time: VirtualTime, faults: Faults) {
    super({ allowHalfOpen: true })
    this.host = host
    this.#time = time
    this.#faults = faults
  }

  /** Runs a function at the other end, after everything that was sent before. */
  transfer(run: (peer: SimulatedSocket) => void): void {
    const { peer } = this
    if (this.isSilent || peer === undefined) return
    const now = this.#time.now()
    if (this.#packet?.sentAt === now) return void this.#packet.parts.push(run)
    const parts = [run]
    this.#packet = { sentAt: now, parts }
    this.#lastArrival = Math.max(this.#lastArrival, now + this.#faults.delayMs())
    this.#time.schedule(peer.host, this.#lastArrival - now, () => {
      for (const part of parts) if (!peer.destroyed) part(peer)
    })
  }

  setTimeout(): this {
    return this
  }

  override _read(): void {}

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    const arriving = this.onTransfer(chunk)
    if (arriving !== undefined && arriving.length > 0) this.transfer((peer) => peer.push(arriving))
    done()
  }

  override _final(done: () => void): void {
    this.transfer((peer) => peer.push(null))
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.readableEnded || !this.writableFinished) this.transfer((peer) => peer.destroy(connectionReset()))
    done(error)
  }
}

/** The error of a connection that its other end has closed. */
export function connectionReset(): Error {
  return systemError('ECONNRESET', 'read')
}

/** The error of a connection without a process at its other end. */
export function connectionRefused(): Error {
  return systemError('ECONNREFUSED', 'connect')
}

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall })
}
