import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import type { CallView } from '../../../src/dev/events.ts'
import type { Session } from '../state/session.ts'
import { readState } from './message-row.tsx'

export interface CallProps {
  readonly session: Session
  readonly call: CallView
}

/**
 * Says that a handler ran several times, unless its state has a step: an effect before a question then happens in each
 * run. If the page does not have the key of the state, the sentence is true with a step and without one.
 */
export function RunsNote({ session, call: { id } }: CallProps): VNode | null {
  const recorded = useSignal<'steps' | 'no step' | 'unknown'>('steps')
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
        if (problem !== undefined) recorded.value = 'unknown'
        else recorded.value = Object.keys(Object(steps)).length > 0 ? 'steps' : 'no step'
      },
      () => {},
    )
  }, [token])
  if (recorded.value === 'steps') return null
  return (
    <p class="hint">
      The handler ran {tokens.length + 1} times, each time from its first line
      {recorded.value === 'no step' ? (
        <>
          , and had recorded no step when it asked. That is right if it did nothing but ask: an effect before a question
          belongs in <code>ctx.step</code>.
        </>
      ) : (
        <>
          . Before a question, what is in <code>ctx.step</code> was done once, and everything else each time.
        </>
      )}
    </p>
  )
}
