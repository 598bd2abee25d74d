import { setTimeout as sleep } from 'node:timers/promises'
import type { Instance } from '../wire/fetch.ts'
import { type Detected, startAndDetect } from './detect-transport.ts'
import type { OwnProcess, ProcessCommand } from './own-process.ts'

export interface InstancesListener {
  onLine(text: string, pid: number | undefined): void
  /** An instance has ended by itself, and no other one is left. */
  onEnd(reason: string): void
  /** An instance was killed, or has started again. */
  onChange(): void
}

/** Between a kill and the next start, as a supervisor needs them in production. */
export const afterKillMs = 300

/** Processes of one edition of the server. They answer in turns. */
export class Instances {
  readonly #command: ProcessCommand
  readonly #listener: InstancesListener
  readonly #processes = new Set<OwnProcess>()
  readonly #answering = new Map<OwnProcess, Instance>()
  #lastTurn: Instance | undefined
  #count = 1
  #stopping: Promise<unknown> | undefined

  constructor(command: ProcessCommand, listener: InstancesListener) {
    this.#command = command
    this.#listener = listener
  }

  /** Resolves with what the first instance said, or with the one that has failed. */
  async start(count: number): Promise<Detected> {
    this.#count = count
    const results = await Promise.all(Array.from({ length: count }, () => this.#startOne()))
    return results.find(({ transport }) => transport !== 'http') ?? results[0] ?? { transport: undefined, reason: '' }
  }

  get pids(): readonly number[] {
    return Array.from(this.#answering.values(), ({ pid }) => pid).filter((pid) => pid !== undefined)
  }

  /** Where the last request of the current revision went. */
  get last(): Instance | undefined {
    return this.#lastTurn ?? this.#answering.values().next().value
  }

  /** Which instance gets the next request. Without turns it is always the first one. */
  next(hasTurns: boolean): Instance | undefined {
    const all = [...this.#answering.values()]
    if (!hasTurns) return all[0]
    this.#lastTurn = takeTurn(all, this.#lastTurn)
    return this.#lastTurn
  }

  /** Resolves when all have ended. */
  async stop(): Promise<void> {
    this.#stopping ??= Promise.all(Array.from(this.#processes, (process) => process.stop()))
    await this.#stopping
  }

  async #startOne(): Promise<Detected> {
    const { process, detected } = startAndDetect(this.#command, (text) => this.#listener.onLine(text, process.pid))
    this.#processes.add(process)
    const result = await detected
    if (result.transport === 'http') {
      const instance: Instance = { url: result.url, pid: process.pid, kill: () => void this.#kill(process) }
      this.#answering.set(process, instance)
    }
    void process.exited.then((reason) => this.#forget(process, reason))
    return result
  }

  #forget(process: OwnProcess, reason: string): void {
    this.#processes.delete(process)
    if (!this.#answering.delete(process) || this.#stopping !== undefined) return
    if (this.#answering.size === 0) this.#listener.onEnd(reason)
    else this.#listener.onChange()
  }

  /** While others serve, a killed instance is replaced; the only one is started again by the owner. */
  async #kill(process: OwnProcess): Promise<void> {
    process.kill()
    if (this.#count === 1) return
    this.#answering.delete(process)
    this.#listener.onChange()
    await sleep(afterKillMs)
    if (this.#stopping !== undefined) return
    await this.#startOne()
    this.#listener.onChange()
  }
}

/** Processes of a program that starts its server itself. They answer in turns. */
export class ProgramInstances implements Pick<Instances, 'pids' | 'last' | 'next'> {
  readonly #list: () => readonly Instance[]
  #last: Instance | undefined

  constructor(list: () => readonly Instance[]) {
    this.#list = list
  }

  get pids(): readonly number[] {
    return this.#list().flatMap(({ pid }) => pid ?? [])
  }

  get last(): Instance | undefined {
    return this.#last ?? this.#list()[0]
  }

  next(hasTurns: boolean): Instance | undefined {
    const all = this.#list()
    const last = all.find(({ url }) => url.href === this.#last?.url.href)
    this.#last = hasTurns ? takeTurn(all, last) : all[0]
    return this.#last
  }
}

function takeTurn(all: readonly Instance[], last: Instance | undefined): Instance | undefined {
  const index = last === undefined ? -1 : all.indexOf(last)
  return all[(index + 1) % all.length]
}
