import type { Clock, JsonObject } from '@x/core'
import { digestTool, type PinStore } from './tool-rules.ts'

/** Milliseconds after which a call checks the definition of its tool again. */
const freshMs = 60_000
/** The number of tools whose check is remembered. An upstream may list any number. */
const maxRememberedTools = 1000

/** The tools of an upstream whose definitions are compared with the accepted ones. */
export class PinnedTools {
  readonly #pins: PinStore
  readonly #clock: Clock
  readonly #checkedAt = new Map<string, number>()

  constructor(pins: PinStore, clock: Clock) {
    this.#pins = pins
    this.#clock = clock
  }

  /** Returns true if the definition of a tool was accepted at a recent check. */
  isFresh(tool: string): boolean {
    const checkedAt = this.#checkedAt.get(tool)
    return checkedAt !== undefined && this.#clock.monotonicNow() - checkedAt < freshMs
  }

  /** Returns true if a tool has its accepted definition. The first definition that is seen is accepted. */
  async check(tool: JsonObject): Promise<boolean> {
    const name = String(tool['name'])
    const digest = await digestTool(tool)
    const accepted = (await this.#pins.get(name)) ?? (await this.#pins.add(name, digest))
    this.#checkedAt.delete(name)
    if (accepted !== digest) return false
    const [oldest] = this.#checkedAt.keys()
    if (this.#checkedAt.size >= maxRememberedTools && oldest !== undefined) this.#checkedAt.delete(oldest)
    this.#checkedAt.set(name, this.#clock.monotonicNow())
    return true
  }
}
