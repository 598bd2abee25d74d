/** A map that removes its oldest entry when it is full. An entry that is set again is the newest. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxEntries: number

  constructor(maxEntries: number) {
    super()
    this.#maxEntries = maxEntries
  }

  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    if (this.size > this.#maxEntries) {
      const [oldestKey = key] = this.keys()
      this.delete(oldestKey)
    }
    return this
  }
}
