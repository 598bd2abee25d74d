/** A replacement of a range of a text. */
interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The changes of one text. Ranges that no change covers keep every character. */
export class Edits {
  readonly #source: string
  #edits: Edit[] = []

  constructor(source: string) {
    this.#source = source
  }

  /** Replaces a range, with all changes inside it. */
  replace(start: number, end: number, text: string): void {
    const isOutside = (edit: Edit) =>
      edit.start < start || edit.end > end || (edit.start === edit.end && (edit.start === start || edit.end === end))
    this.#edits = this.#edits.filter(isOutside)
    this.#edits.push({ start, end, text })
  }

  /** Inserts a text before a position. */
  insert(position: number, text: string): void {
    this.#edits.push({ start: position, end: position, text })
  }

  /** Returns the text of a range with the changes inside it. */
  textOf(start: number, end: number): string {
    const inside = this.#edits.filter((edit) => edit.start >= start && edit.end <= end)
    return this.#render(start, end, inside)
  }

  /** Returns true if a change replaces the character at a position. */
  covers(position: number): boolean {
    return this.#edits.some(({ start, end }) => start <= position && position < end)
  }

  /** Returns the whole text with its changes. */
  apply(): string {
    return this.#render(0, this.#source.length, this.#edits)
  }

  /** Returns a position, or the end of the change that replaces its character. */
  afterChange(position: number): number {
    const covering = this.#edits.filter(({ start, end }) => start <= position && position < end)
    return Math.max(position, ...covering.map(({ end }) => end))
  }

  /** Adds the changes of a part of the work that succeeded. */
  merge(other: Edits): void {
    this.#edits.push(...other.#edits)
  }

  #render(start: number, end: number, edits: readonly Edit[]): string {
    let text = ''
    let position = start
    // The sort is stable: insertions at one position keep their order.
    for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
      if (edit.start < position) continue
      text += this.#source.slice(position, edit.start) + edit.text
      position = edit.end
    }
    return text + this.#source.slice(position, end)
  }
}
