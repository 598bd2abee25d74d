import { createLedger, type LedgerBound } from '@x/core'
import type { HttpReply } from '@x/exchange'
import { expect, test } from 'vitest'
import type { Session } from '../session/session.ts'
import { FinishedStreams } from './finished-streams.ts'

const session = { key: 'session' } as Session

/** Creates the streams with a small bound, and a clock that a test moves. */
function createStreams(bound: LedgerBound) {
  const timers = new Set<() => void>()
  const ledger = createLedger({}, { finished_bytes: bound })
  const streams = new FinishedStreams({
    ledger,
    schedule(run) {
      timers.add(run)
      return () => void timers.delete(run)
    },
  })
  return { streams, ledger, timers, runTimers: () => Array.from(timers, (run) => run()) }
}

/** Keeps a stream of one event of `length` characters. */
function keep(streams: FinishedStreams, id: string, { callerKey = 'a', length = 500 } = {}): void {
  streams.keep({ id, session, callerKey, events: [{ number: 1, text: 'x'.repeat(length) }] })
}

/** Returns what a client receives that resumes a stream. Undefined if the stream is unknown. */
function resume(
  streams: FinishedStreams,
  streamId: string,
  { eventNumber = 0, key = 'session' } = {},
): string[] | undefined {
  const written: string[] = []
  const reply = {
    open: () => written.push('open'),
    write: (text: string) => written.push(text),
    end: () => written.push('end'),
  } as unknown as HttpReply
  const eventId = { streamId, eventNumber, isWaiting: false, requestId: undefined }
  return streams.resume(eventId, { key } as Session, reply) ? written : undefined
}

test('a client receives the events after the last one that it has', () => {
  const { streams } = createStreams({ perCaller: 10_000, total: 10_000 })
  const events = ['one', 'two', 'three'].map((text, index) => ({ number: index + 1, text }))
  streams.keep({ id: 'stream', session, callerKey: 'a', events })
  expect(resume(streams, 'stream', { eventNumber: 1 })).toEqual(['open', 'two', 'three', 'end'])
  expect(resume(streams, 'stream', { eventNumber: 3 })).toEqual(['open', 'end'])
  expect(resume(streams, 'stream', { key: 'another session' })).toBeUndefined()
  expect(resume(streams, 'another stream')).toBeUndefined()
})

test('a stream is dropped after its time, and when the server closes', () => {
  const { streams, ledger, timers, runTimers } = createStreams({ perCaller: 10_000, total: 10_000 })
  keep(streams, 'first')
  expect(ledger.usedBy('finished_bytes', 'a')).toBe(1000)
  runTimers()
  expect(resume(streams, 'first')).toBeUndefined()
  expect(ledger.usedInAll('finished_bytes')).toBe(0)
  keep(streams, 'second')
  keep(streams, 'third', { callerKey: 'b' })
  streams.close()
  expect(resume(streams, 'second')).toBeUndefined()
  expect([ledger.usedInAll('finished_bytes'), timers.size]).toEqual([0, 0])
})

test('the streams of an ended session are dropped, and no others', () => {
  const { streams, ledger, timers } = createStreams({ perCaller: 10_000, total: 10_000 })
  keep(streams, 'first')
  keep(streams, 'second')
  const another = { key: 'another session' } as Session
  streams.keep({ id: 'of another session', session: another, callerKey: 'a', events: [{ number: 1, text: 'one' }] })
  streams.dropSession(session)
  streams.dropSession({ key: 'unknown session' })
  for (const id of ['first', 'second']) expect(resume(streams, id)).toBeUndefined()
  expect(resume(streams, 'of another session', { key: another.key })).toContain('end')
  expect([ledger.usedBy('finished_bytes', 'a'), timers.size]).toEqual([503, 1])
})

test('a caller at its bound loses its own oldest streams, and no stream of another caller [LDG-001 LDG-006]', () => {
  const { streams, ledger } = createStreams({ perCaller: 2000, total: 10_000 })
  keep(streams, 'of another caller', { callerKey: 'b' })
  for (const id of ['first', 'second', 'third']) keep(streams, id)
  expect(ledger.usedBy('finished_bytes', 'a')).toBe(2000)
  expect(resume(streams, 'first')).toBeUndefined()
  for (const id of ['second', 'third', 'of another caller']) expect(resume(streams, id)).toContain('end')
})

test('at the bound of all callers, the caller with the most bytes loses its oldest stream [LDG-006]', () => {
  const { streams } = createStreams({ perCaller: 2000, total: 3000 })
  keep(streams, 'first of a')
  keep(streams, 'second of a')
  keep(streams, 'of b', { callerKey: 'b' })
  keep(streams, 'of c', { callerKey: 'c' })
  expect(resume(streams, 'first of a')).toBeUndefined()
  for (const id of ['second of a', 'of b', 'of c']) expect(resume(streams, id)).toContain('end')
})

test('a stream that is larger than the bound is not kept, and the others of its caller remain', () => {
  const { streams, ledger } = createStreams({ perCaller: 2000, total: 3000 })
  keep(streams, 'small')
  keep(streams, 'large', { length: 4000 })
  expect(resume(streams, 'large')).toBeUndefined()
  expect(resume(streams, 'small')).toContain('end')
  expect(ledger.usedBy('finished_bytes', 'a')).toBe(1000)
})
