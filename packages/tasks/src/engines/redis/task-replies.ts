import { parseJsonObject } from '@x/core'
import type { JournalEntry } from '@x/exchange'
import { isJsonObject, type JsonObject, type WireError } from '@x/schema'
import type { ClaimedTask, InspectedTask, OpenTaskState, TaskRow } from '../engine.ts'
import { fromStoredText, toStoredText, toTaskStatus } from '../stored-values.ts'
import { rowFields } from './script-library.ts'

// Only scripts of this engine write these values, so a reply of another shape means that a key was changed by hand.

/** An absent text is stored as the empty one, and any other begins with `+`. */
export function encodeOptionalText(text: string | undefined): string {
  return text === undefined ? '' : `+${text}`
}

function fromOptionalText(text: string): string | undefined {
  return text === '' ? undefined : text.slice(1)
}

export function listFrom(reply: unknown): readonly unknown[] {
  if (Array.isArray(reply)) return reply
  throw new Error(`Redis answered with ${typeof reply} and not with a list: was a key of a task changed by hand?`)
}

export function parseInspectedTask(reply: unknown): InspectedTask {
  const [row, dueAt, state, openKeys, now] = listFrom(reply)
  const values = listFrom(row).map(String)
  const fields = Object.fromEntries(rowFields.map((name, index) => [name, values[index] ?? '']))
  const field = (name: (typeof rowFields)[number]): string => fields[name] ?? ''
  const time = (name: 'created' | 'updated' | 'expires'): number => Number(field(name)) / 1000
  const nowMs = Number(now) / 1000
  const worker = fromOptionalText(field('worker'))
  return {
    ...toOutcome(field('outcome')),
    id: fromStoredText(field('id')),
    status: toTaskStatus(field('status')),
    statusMessage: toMessage(field('message')),
    progress: parseProgress(field('progress')),
    createdAt: Math.floor(time('created')),
    updatedAt: Math.floor(time('updated')),
    ageMs: Math.round(nowMs - time('created')),
    ttlMs: field('expires') === '' ? null : Math.round(time('expires') - time('created')),
    requests: toOpenRequests(field('requests'), new Set(listFrom(openKeys).map(String))),
    owner: fromStoredText(field('owner')),
    tool: fromStoredText(field('tool')),
    // The scripts return these states alone.
    state: state === '' ? undefined : (state as OpenTaskState),
    attempt: Number(field('attempt')),
    failures: Number(field('failures')),
    worker,
    dueInMs: dueAt === '' ? undefined : Number(dueAt) / 1000 - nowMs,
  }
}

export function parseTaskRow(reply: unknown): TaskRow {
  const {
    owner: _owner,
    tool: _tool,
    state: _state,
    attempt: _attempt,
    failures: _failures,
    ...task
  } = parseInspectedTask(reply)
  const { worker: _worker, dueInMs: _dueInMs, ...row } = task
  return row
}

/** Comes with the task's journal and answers. */
export function parseClaimedTask(reply: unknown): ClaimedTask {
  const [id, attempt, token, failures, waitedMs, payload, cancelling, , entries, answers] = listFrom(reply)
  const answerTexts = listFrom(answers).map(String)
  return {
    id: fromStoredText(String(id)),
    attempt: Number(attempt),
    token: String(token),
    failures: Number(failures),
    waitedMs: Number(waitedMs),
    payload: toObject(String(payload)),
    // Each text was made from a `JournalEntry`.
    entries: listFrom(entries).map((entry) => toObject(String(entry)) as unknown as JournalEntry),
    responses: Object.fromEntries(
      answerTexts.flatMap((key, index) =>
        index % 2 === 0 ? [[fromStoredText(key), toObject(answerTexts[index + 1] ?? '')] as const] : [],
      ),
    ),
    isCancelling: cancelling === '1',
  }
}

function toObject(text: string): JsonObject {
  const value = parseJsonObject(text)
  if (value !== undefined) return value
  throw new Error('A task holds a JSON value that is not an object: was its key changed by hand?')
}

function toMessage(text: string): string | undefined {
  const message = fromOptionalText(text)
  return message === undefined ? undefined : fromStoredText(message)
}

function parseProgress(text: string): TaskRow['progress'] {
  if (text === '') return undefined
  const { progress, total } = toObject(text)
  return { progress: Number(progress), ...(typeof total === 'number' && { total }) }
}

function toOutcome(text: string): Pick<TaskRow, 'result' | 'error'> {
  const { result, error } = text === '' ? {} : toObject(text)
  return {
    result: isJsonObject(result) ? result : undefined,
    // `finish` stored a `WireError`.
    error: isJsonObject(error) ? (error as unknown as WireError) : undefined,
  }
}

function toOpenRequests(text: string, openKeys: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(toObject(text)).filter(([key]) => openKeys.has(toStoredText(key))))
}
