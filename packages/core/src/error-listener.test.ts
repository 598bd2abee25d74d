import { expect, test, vi } from 'vitest'
import { errorListener } from './index.ts'

function linesOf(error: unknown, place = ''): string[] {
  using printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  errorListener<[unknown]>(undefined, '@x/demo', () => place)(error)
  return printed.mock.calls.map((values) => values.join(' '))
}

test.each<[unknown, RegExp]>([
  [
    new TypeError('x is not a function'),
    /^@x\/demo: TypeError: x is not a function at .*error-listener\.test\.ts:\d+:\d+/,
  ],
  [new RangeError(''), /^@x\/demo: RangeError at /],
  [
    new Error('outer', { cause: new Error('inner', { cause: 'rope' }) }),
    /^@x\/demo: Error: outer \(cause: Error: inner\) \(cause: string rope\) at /,
  ],
  [{ code: 'rounds', message: 'a warning' }, /^@x\/demo: a warning$/],
  [{ code: 'tool_refused', tool: 'q', reason: 'a reason' }, /^@x\/demo: a reason$/],
  ['text', /^@x\/demo: string text$/],
  [undefined, /^@x\/demo: undefined was thrown$/],
  [Object.assign(new Error('bare'), { stack: undefined }), /^@x\/demo: Error: bare$/],
])('without a listener %s is one line on the console', (error, line) => {
  expect(linesOf(error)).toEqual([expect.stringMatching(line)])
})

test('a line names the place, and holds no line break or control character of a peer', () => {
  const error = Object.assign(new Error('a\nb\u001b[31m\u202Ec\r\nd'), { stack: undefined })
  expect(linesOf(error, 'tools/call "q"')).toEqual(['@x/demo: tools/call "q": Error: a b [31m c d'])
})

test('a line has at most 2,000 characters, and an error that causes itself ends', () => {
  const error: Error & { cause?: unknown } = new Error('x'.repeat(5000))
  error.cause = error
  expect(linesOf(error)[0]).toHaveLength(2001)
})

test('a listener receives everything in place of the console, and false silences', () => {
  using printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  const given = vi.fn<(error: unknown, where: string) => void>()
  errorListener<[unknown, string]>(given, '@x/demo')('error', 'where')
  errorListener<[unknown, string]>(false, '@x/demo')('error', 'where')
  expect(given.mock.calls).toEqual([['error', 'where']])
  expect(printed).not.toHaveBeenCalled()
})
