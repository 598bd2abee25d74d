import { expect, test, vi } from 'vitest'
import { createLog, errorRecord, type LogContext, type LogRecord } from './index.ts'

function linesOf(record: LogRecord): string[] {
  using printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  createLog(undefined, '@x/demo')(record)
  return printed.mock.calls.map((values) => values.join(' '))
}

const linesOfError = (error: unknown, context?: LogContext): string[] => linesOf(errorRecord(error, context))

test.each<[unknown, RegExp]>([
  [new TypeError('x is not a function'), /^@x\/demo: TypeError: x is not a function at .*log\.test\.ts:\d+:\d+/],
  [
    new Error('it wrote: no key\n    at theirs (/their/server.mjs:1:1)'),
    /^@x\/demo: Error: it wrote: no key at theirs \(\S+ at .*log\.test\.ts:\d+:\d+/,
  ],
  [new RangeError(''), /^@x\/demo: RangeError at /],
  [
    new AggregateError([new Error('connect ECONNREFUSED ::1:5432')]),
    /^@x\/demo: AggregateError: connect ECONNREFUSED ::1:5432 at /,
  ],
  [Object.assign(new Error(''), { code: 'ECONNREFUSED' }), /^@x\/demo: Error: ECONNREFUSED at /],
  [
    new Error('outer', { cause: new Error('inner', { cause: 'rope' }) }),
    /^@x\/demo: Error: outer \(cause: Error: inner\) \(cause: string rope\) at /,
  ],
  [{ code: 'rounds', message: 'a warning' }, /^@x\/demo: a warning$/],
  [{ code: 'tool_refused', tool: 'q', reason: 'a reason' }, /^@x\/demo: a reason$/],
  ['text', /^@x\/demo: string text$/],
  [undefined, /^@x\/demo: undefined was thrown$/],
  [Object.assign(new Error('bare'), { stack: undefined }), /^@x\/demo: Error: bare$/],
])('without a log the error %s is written to the standard error as one line', (error, line) => {
  expect(linesOfError(error)).toEqual([expect.stringMatching(line)])
})

test('a reader of the standard error that has gone does not end the process', () => {
  linesOf({ level: 'error', message: 'x' })
  expect(() => process.stderr.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))).not.toThrow()
})

test.each<[LogContext, string]>([
  [{ method: 'tools/call', name: 'q' }, 'tools/call "q": '],
  [{ method: 'ready' }, 'ready: '],
  [{ name: 'change bus' }, 'change bus: '],
  [{ requestId: 1, principal: 'ada' }, ''],
])(
  'a line names the request or the part %j, and contains no line break or control character of a peer',
  (context, prefix) => {
    const error = Object.assign(new Error('a\nb\u001b[31m\u202Ec\r\nd'), { stack: undefined })
    expect(linesOfError(error, context)).toEqual([`@x/demo: ${prefix}Error: a b [31m c d`])
  },
)

test('a message that already names its request has no prefix', () => {
  const record = { level: 'warn', message: 'tools/call "q" asked often', method: 'tools/call', name: 'q' } as const
  expect(linesOf(record)).toEqual(['@x/demo: tools/call "q" asked often'])
})

test('the error of a record with another message is shown as its cause', () => {
  const err = Object.assign(new Error('inner'), { stack: undefined })
  expect(linesOf({ level: 'error', message: 'outer', err })).toEqual(['@x/demo: outer (cause: Error: inner)'])
})

test('an error whose message is for peers is shown with its detail', () => {
  const err = Object.assign(new Error('Invalid or expired state'), { detail: 'its key "k1" is not known here' })
  expect(errorRecord(err).message).toBe('Error: Invalid or expired state (its key "k1" is not known here)')
})

test('a record of level debug is not written', () => {
  expect(linesOf({ level: 'debug', message: 'detail' })).toEqual([])
})

test('a line has at most 2,000 characters, also for an error that is its own cause', () => {
  const error: Error & { cause?: unknown } = new Error('x'.repeat(5000))
  error.cause = error
  expect(linesOfError(error)[0]).toHaveLength(2001)
})

test('a given log receives every record, and the console none', () => {
  using printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  const log = vi.fn<(record: LogRecord) => void>()
  const error = new Error('lost')
  createLog(log, '@x/demo')(errorRecord(error, { method: 'tools/call', requestId: 7 }))
  expect(log.mock.calls).toEqual([
    [{ level: 'error', message: 'Error: lost', err: error, method: 'tools/call', requestId: 7 }],
  ])
  expect(printed).not.toHaveBeenCalled()
})

test('an error that a log throws is dropped', () => {
  const fail = (): never => {
    throw new Error('no disk')
  }
  expect(() => createLog(fail, '@x/demo')({ level: 'info', message: 'text' })).not.toThrow()
})
