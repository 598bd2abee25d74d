import { readFile, stat } from 'node:fs/promises'
import { isJsonObject, type JsonObject, parseJsonObject } from '@x/core'
import { type LockLimits, lockFile, pauseForLock, replaceFile } from '@x/core/node'
import type { PinStore } from '../upstream/tool-rules.ts'

/** Accepted tools of all upstreams of a gateway, in one JSON file that a person may edit. */
export interface PinFile {
  /** One upstream's store. */
  storeOf(upstream: string): PinStore
  /** Removes a tool, so that its next definition is accepted. False for a tool that has no digest. */
  remove(upstream: string, tool: string): Promise<boolean>
}

/**
 * Opens the file at a path; the first tool creates it. The upstreams of a gateway and instances on one machine may share
 * it: a file beside it with the ending `.lock` keeps their changes apart. Nothing is read yet: the functions of the result
 * reject with a `SyntaxError` for a file that is no JSON object.
 */
export function openPinFile(path: string): PinFile {
  const file = new PinsOnDisk(path)
  return {
    storeOf: (upstream) => ({
      get: async (tool) => (await file.read()).get(upstream)?.get(tool),
      add: (tool, digest) =>
        file.change((pins) => {
          const own = pins.get(upstream) ?? new Map<string, string>()
          const accepted = own.get(tool) ?? (own.size < maxTools ? digest : '')
          if (accepted !== '') pins.set(upstream, own.set(tool, accepted))
          return accepted
        }),
    }),
    remove: (upstream, tool) => file.change((pins) => pins.get(upstream)?.delete(tool) === true),
  }
}

/** An upstream may list any number of tools. */
const maxTools = 10_000

/** A change takes some milliseconds. */
const lockLimits: LockLimits = { elsewhereMs: 30_000, runningMs: 30_000 }

type Pins = Map<string, Map<string, string>>

/** Reads the file once after each change of it, and writes it once for all changes of the same moment. */
class PinsOnDisk {
  readonly #path: string
  #known: { readonly version: string; readonly pins: Pins } | undefined
  #reading: Promise<Pins> | undefined
  #edits: ((pins: Pins) => void)[] = []
  #writing: Promise<void> = Promise.resolve()

  constructor(path: string) {
    this.#path = path
  }

  read(): Promise<Pins> {
    this.#reading ??= this.#readFile().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async change<T>(edit: (pins: Pins) => T): Promise<T> {
    let result: { readonly value: T } | undefined
    this.#edits.push((pins) => {
      result = { value: edit(pins) }
    })
    if (this.#edits.length === 1) this.#writing = this.#writing.catch(() => {}).then(() => this.#writeEdits())
    await this.#writing
    if (result === undefined) throw new Error('The pins were not changed')
    return result.value
  }

  /** Under a lock, because what another opener writes between the reading and the writing here would be lost. */
  async #writeEdits(): Promise<void> {
    const edits = this.#edits
    this.#edits = []
    const unlock = await lockFile(`${this.#path}.lock`, lockLimits, pauseForLock)
    try {
      const pins = await this.#readFile()
      const before = toText(pins)
      for (const edit of edits) edit(pins)
      const text = toText(pins)
      if (text === before) return
      this.#known = undefined
      await replaceFile(this.#path, text, 0o666)
    } finally {
      await unlock()
    }
  }

  async #readFile(): Promise<Pins> {
    const version = await versionOf(this.#path)
    if (this.#known?.version !== version) this.#known = { version, pins: await readPins(this.#path) }
    return this.#known.pins
  }
}

async function versionOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => undefined)
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeNs}`
}

function toText(pins: Pins): string {
  const upstreams = Array.from(pins, ([upstream, tools]) => [upstream, Object.fromEntries(tools)])
  return `${JSON.stringify(Object.fromEntries(upstreams), undefined, 2)}\n`
}

async function readPins(path: string): Promise<Pins> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw error
  })
  const value = parseJsonObject(text)
  if (value === undefined) throw new SyntaxError(`${path} is not a JSON object`)
  return new Map(
    Object.entries(value).flatMap(([upstream, tools]) => (isJsonObject(tools) ? [[upstream, readDigests(tools)]] : [])),
  )
}

function readDigests(tools: JsonObject): Map<string, string> {
  return new Map(Object.entries(tools).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}
