import { platformRuntime } from '@x/core'
import type { RequestView } from './request-view.ts'

const maxReportsPerMinute = 100
const minuteMs = 60_000

/** Reports the reason for which a request was rejected. */
export type RejectionReport<Source> = (reason: string, request: RequestView<Source>) => void

/**
 * Returns a report that passes each reason on once a minute, and at most 100 reasons. Any page can make a browser send
 * such requests without end, and the log of the server must not grow with them. A report states the number of those
 * omitted before it.
 */
export function limitReports<Source>(
  onError: (error: unknown, request: RequestView<Source>) => void,
  now: () => number = platformRuntime.monotonicNow,
): RejectionReport<Source> {
  const reported = new Set<string>()
  let begun = Number.NEGATIVE_INFINITY
  let omitted = 0
  return (reason, request) => {
    const time = now()
    if (time - begun >= minuteMs) {
      begun = time
      reported.clear()
    }
    if (reported.has(reason) || reported.size >= maxReportsPerMinute) {
      omitted++
      return
    }
    reported.add(reason)
    const before = omitted === 0 ? '' : ` (reports omitted before: ${omitted})`
    omitted = 0
    onError(new Error(`${reason}${before}`), request)
  }
}
