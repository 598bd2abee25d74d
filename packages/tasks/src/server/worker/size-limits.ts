import { quoteText } from '@x/core'
import type { JournalEntry } from '@x/exchange'
import { errorCodes, type JsonObject, type WireError } from '@x/schema'
import type { ClaimedTask, TaskEnd } from '../../engines/engine.ts'

/** The size of a task's record, in bytes of JSON. */
export interface JournalSize {
  /** The bytes of the journal of the call, of the answers and of the entries together. */
  totalBytes: number
  /** The bytes of each entry, by part and key. */
  readonly bytesByEntry: Map<string, number>
}

/**
 * The largest size of a task's journal, in bytes of JSON. A journal contains results of steps, checkpoints, requests
 * for input and responses. The limit is a little less than the largest message of the transports, because a message
 * also has an envelope.
 */
// limit: bytes | the records of a task | the task fails
const maxJournalBytes = 4_000_000

/** The largest size of the result or the error of a task, in bytes of JSON. */
// limit: bytes | the result of a task | the task fails
const maxResultBytes = 4_000_000

/** Measures the journal, the answers and the entries of a claimed task. */
export function measureJournalSize({ payload, responses, entries }: ClaimedTask): JournalSize {
  const bytesByEntry = new Map(entries.map((entry) => [entryNameOf(entry), jsonByteLengthOf(entry)]))
  const entriesTotalBytes = [...bytesByEntry.values()].reduce((sum, bytes) => sum + bytes, 0)
  return {
    totalBytes: entriesTotalBytes + jsonByteLengthOf(payload['journal'] ?? {}) + jsonByteLengthOf(responses),
    bytesByEntry,
  }
}

/**
 * Adds entries, at most one for each part and key, to the size of a journal. If the journal would be too large, adds
 * nothing and returns an error. Then none of the entries may be written.
 */
export function addToJournalSize(journalSize: JournalSize, entries: readonly JournalEntry[]): WireError | undefined {
  const newBytesByEntry = new Map(entries.map((entry) => [entryNameOf(entry), jsonByteLengthOf(entry)]))
  let { totalBytes } = journalSize
  for (const [name, bytes] of newBytesByEntry) totalBytes += bytes - (journalSize.bytesByEntry.get(name) ?? 0)
  // The journal may have been too large before, because of a long answer or a higher limit. Then entries that do not
  // add to its size are accepted.
  if (totalBytes > maxJournalBytes && totalBytes > journalSize.totalBytes) return journalLimitError(entries, totalBytes)
  for (const [name, bytes] of newBytesByEntry) journalSize.bytesByEntry.set(name, bytes)
  journalSize.totalBytes = totalBytes
  return undefined
}

/** Returns an error if the journal of a call is too large for the call to become a task. */
export function checkJournalSize(journal: JsonObject): WireError | undefined {
  const bytes = jsonByteLengthOf(journal)
  if (bytes <= maxJournalBytes) return undefined
  return tooLargeError(
    `The journal of the call that becomes a task has ${bytes} bytes`,
    maxJournalBytes,
    smallerRecordAdvice,
  )
}

/** Returns an error if requests for input are too large. */
export function checkRequestsSize(requests: JsonObject): WireError | undefined {
  const bytes = jsonByteLengthOf(requests)
  if (bytes <= maxJournalBytes) return undefined
  return tooLargeError(
    `The questions of the task have ${bytes} bytes`,
    maxJournalBytes,
    'ask fewer or shorter questions at once',
  )
}

/** Returns an error if the outcome of a task is too large. */
export function checkResultSize({ outcome }: Pick<TaskEnd, 'outcome'>): WireError | undefined {
  const bytes = jsonByteLengthOf(outcome)
  if (bytes <= maxResultBytes) return undefined
  const outcomeName = outcome.status === 'failed' ? 'error' : 'result'
  const advice = 'return less, or links to the rest'
  return tooLargeError(`The ${outcomeName} of the task has ${bytes} bytes`, maxResultBytes, advice)
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
