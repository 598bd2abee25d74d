import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import type { CallView } from '../../../src/dev/events.ts'
import type { Session } from '../state/session.ts'
import { readState } from './message-row.tsx'

interface RunsNoteProps {
  readonly session: Session
  readonly call: CallView
}

/** Says that a handler ran several times, if its state has no step: an effect before a question then happens in each run. */
export function RunsNote({ session, call: { id } }: RunsNoteProps): VNode | null {
  const hasSteps = useSignal(true)
  const tokens = session.state.timelineOf(id).flatMap((entry) => {
    if (entry.type !== 'message' || entry.message.direction !== 'sent') return []
    return readState(entry.message.text) ?? []
  })
  const token = tokens.at(-1)
  useEffect(() => {
    if (token === undefined) return
    session.ask('state', { token }).then(
      (report) => {
        const { problem, steps } = Object(report)
        hasSteps.value = problem !== undefined || Object.keys(Object(steps)).length > 0
      },
      () => {},
    )
  }, [token])
  if (hasSteps.value) return null
  return (
    <p class="hint">
      The handler ran {tokens.length + 1} times, each time from its first line, and had recorded no step when it asked.
      That is right if it did nothing but ask: an effect before a question belongs in <code>ctx.step</code>.
    </p>
  )
}
