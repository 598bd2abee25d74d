import { expect, test } from 'vitest'
import { createReportLimiter } from './handler-settings.ts'
import type { RequestView } from './http-adapter.ts'

const view: RequestView<undefined> = {
  method: 'POST',
  url: '/mcp',
  source: undefined,
  header: () => undefined,
  headerValues: () => [],
  forEachHeader: () => {},
}

/** A report by a clock in the test's hand, and the messages that it has passed on. */
function reporting() {
  const messages: string[] = []
  let now = 0
  const report = createReportLimiter<undefined>(
    (message) => messages.push(message),
    () => now,
  )
  return { messages, report: (reason: string) => report(reason, view), skip: (ms: number) => (now += ms) }
}

test('a reason is reported once a minute, and the next report counts those between', () => {
  const { messages, report, skip } = reporting()
  for (let request = 0; request < 10_000; request++) report('Host "evil.test"')
  report('Host "other.test"')
  skip(59_999)
  report('Host "evil.test"')
  skip(1)
  report('Host "evil.test"')
  expect(messages).toEqual([
    'Host "evil.test"',
    'Host "other.test" (reports omitted before: 9999)',
    'Host "evil.test" (reports omitted before: 1)',
  ])
})

test('of ever new reasons a hundred are reported in a minute, and no more are remembered', () => {
  const { messages, report, skip } = reporting()
  for (let request = 0; request < 5000; request++) report(`Host "${request}.test"`)
  expect(messages).toHaveLength(100)
  skip(60_000)
  report('Host "5000.test"')
  expect(messages.slice(100)).toEqual(['Host "5000.test" (reports omitted before: 4900)'])
})
