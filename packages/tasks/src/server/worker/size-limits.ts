import { quoteText } from '@x/core'
import type { JournalEntry } from '@x/exchange'
import { errorCodes, type JsonObject, type WireError } from '@x/schema'
import type { ClaimedTask, TaskEnd } from '../../engines/engine.ts'

/**
 * Maximum size of a task's journal, in bytes of JSON: results of steps, checkpoints, requests for input and responses.
 * It is a little less than the largest message of the transports, because a message also has an envelope.
 */
// limit: bytes | the records of a task | the task fails
const maxJournalBytes = 4_000_000

/** Maximum size of a task's result or error, in bytes of JSON. */
// limit: bytes | the result of a task | the task fails
const maxResultBytes = 4_000_000

/** How large a task's record is, in bytes of JSON. */
export class JournalSize {
  #totalBytes: number
  /** By part and key. */
  readonly #bytesByEntry: Map<string, number>

  constructor({ payload, responses, entries }: ClaimedTask) {
    this.#bytesByEntry = measureEntries(entries)
    const entriesTotalBytes = [...this.#bytesByEntry.values()].reduce((sum, bytes) => sum + bytes, 0)
    this.#totalBytes = entriesTotalBytes + jsonByteLengthOf(payload['journal'] ?? {}) + jsonByteLengthOf(responses)
  }

  /** Journal of the call, answers and entries together. */
  get totalBytes(): number {
    return this.#totalBytes
  }

  /**
   * Adds entries, at most one for each part and key. If the journal would be too large, adds nothing and returns an
   * error; then none of the entries may be written.
   */
  add(entries: readonly JournalEntry[]): WireError | undefined {
    const newBytesByEntry = measureEntries(entries)
    let totalBytes = this.#totalBytes
    for (const [name, bytes] of newBytesByEntry) totalBytes += bytes - (this.#bytesByEntry.get(name) ?? 0)
    // The journal may have been too large before, because of a long answer or a higher limit. Entries that do not add
    // to its size are then accepted.
    if (totalBytes > maxJournalBytes && totalBytes > this.#totalBytes) return journalLimitError(entries, totalBytes)
    for (const [name, bytes] of newBytesByEntry) this.#bytesByEntry.set(name, bytes)
    this.#totalBytes = totalBytes
    return undefined
  }
}

function measureEntries(entries: readonly JournalEntry[]): Map<string, number> {
  return new Map(entries.map((entry) => [entryNameOf(entry), jsonByteLengthOf(entry)]))
}

/** For a call that wants to become a task. */
export function checkJournalSize(journal: JsonObject): WireError | undefined {
  return checkSize('The journal of the call that becomes a task has', journal, maxJournalBytes, smallerRecordAdvice)
}

export function checkRequestsSize(requests: JsonObject): WireError | undefined {
  return checkSize(
    'The questions of the task have',
    requests,
    maxJournalBytes,
    'ask fewer or shorter questions at once',
  )
}

export function checkResultSize({ outcome }: Pick<TaskEnd, 'outcome'>): WireError | undefined {
  const outcomeName = outcome.status === 'failed' ? 'error' : 'result'
  return checkSize(`The ${outcomeName} of the task has`, outcome, maxResultBytes, 'return less, or links to the rest')
}

function checkSize(subject: string, value: object, maxBytes: number, advice: string): WireError | undefined {
  const bytes = jsonByteLengthOf(value)
  return bytes <= maxBytes ? undefined : tooLargeError(`${subject} ${bytes} bytes`, maxBytes, advice)
}

const smallerRecordAdvice = 'let a step return a reference to a large value, and store the value elsewhere'

function journalLimitError(entries: readonly JournalEntry[], totalBytes: number): WireError {
  const [largest] = entries.toSorted((one, other) => jsonByteLengthOf(other) - jsonByteLengthOf(one))
  const { member = '', key = '' } = largest ?? {}
  const entryLabel = `${member} ${quoteText(key)}`
  const description = `The journal of the task has ${totalBytes} bytes with ${entryLabel}, which has ${jsonByteLengthOf(largest ?? {})}`
  return tooLargeError(description, maxJournalBytes, smallerRecordAdvice)
}

function tooLargeError(description: string, maxBytes: number, advice: string): WireError {
  return { code: errorCodes.internal, message: `${description}, and may have ${maxBytes}: ${advice}` }
}

export function entryNameOf({ member, key }: JournalEntry): string {
  return JSON.stringify([member, key])
}

const encoder = new TextEncoder()

function jsonByteLengthOf(value: object | string | number | boolean | null): number {
  return encoder.encode(JSON.stringify(value)).length
}
