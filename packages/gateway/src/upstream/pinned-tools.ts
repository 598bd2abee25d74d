import { BoundedMap, errorRecord, type JsonObject } from '@x/core'
import type { Deps } from '../hop/hop-options.ts'
import { digestTool, type PinStore } from './tool-rules.ts'

// limit: pinned tools | ms | the age of the last check of a tool | the tool is checked again
const freshMs = 60_000
/** An upstream may list any number of tools. */
const maxRememberedTools = 1000

/** Compares an upstream's tools with their accepted definitions, so that none changes unnoticed. */
export class PinnedTools {
  readonly #pins: PinStore
  readonly #deps: Deps
  readonly #checkedAt = new BoundedMap<string, number>(maxRememberedTools)
  /** Digests with which tools were withheld, so that each is logged once. */
  readonly #withheld = new BoundedMap<string, string>(maxRememberedTools)

  #isUnreadable = false

  constructor(pins: PinStore, deps: Deps) {
    this.#pins = pins
    this.#deps = deps
  }

  /** True if a recent check accepted the tool's definition. */
  isFresh(tool: string): boolean {
    const checkedAt = this.#checkedAt.get(tool)
    return checkedAt !== undefined && this.#deps.runtime.monotonicNow() - checkedAt < freshMs
  }

  /** True if a tool has its accepted definition. The first definition that is seen is accepted. */
  async check(tool: JsonObject): Promise<boolean> {
    const name = String(tool['name'])
    const digest = await digestTool(tool)
    const accepted = (await this.#pins.get(name)) ?? (await this.#pins.add(name, digest))
    this.#checkedAt.delete(name)
    if (accepted === digest) this.#checkedAt.set(name, this.#deps.runtime.monotonicNow())
    else this.#reportWithheld(name, digest, accepted)
    return accepted === digest
  }

  /**
   * True if a list shows a tool. While its digest cannot be read, the tool is withheld, and the other upstreams keep
   * their tools.
   */
  async lists(tool: JsonObject): Promise<boolean> {
    try {
      const isAccepted = await this.check(tool)
      this.#isUnreadable = false
      return isAccepted
    } catch (error) {
      // One line for a store that is away, and not one for each tool.
      if (!this.#isUnreadable) this.#deps.log(errorRecord(error, { method: 'tools/list', name: this.#deps.name }))
      this.#isUnreadable = true
      return false
    }
  }

  #reportWithheld(name: string, digest: string, accepted: string): void {
    if (this.#withheld.get(name) === digest) return
    this.#withheld.set(name, digest)
    const message =
      accepted === ''
        ? `The store of digests is full, so the tool ${name} is withheld`
        : `The definition of the tool ${name} has changed, so it is withheld until its digest is removed`
    this.#deps.log({ level: 'warn', code: 'tool_withheld', name: this.#deps.name, message })
  }
}
