import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { ArmedFault, FaultKind } from '../../../src/dev/wire/fault.ts'
import type { Session } from '../state/session.ts'

const labels: Readonly<Record<FaultKind, readonly [label: string, title: string]>> = {
  lose: ['lose response', 'The server answers, and the client never sees it'],
  twice: ['send twice', 'The server receives the same request twice'],
  kill: ['kill', 'The process ends as soon as the request is written, and starts again'],
  later: ['answer later', 'The response is held back'],
  argument: ['change argument', 'The answer of a question comes with another argument'],
  state: ['damage state', 'The answer of a question comes with a damaged state'],
  user: ['other user', 'The request comes with the token of another user'],
}

/** The faults that only the request with an answer can have. */
const ofAnswers: ReadonlySet<FaultKind> = new Set(['argument', 'state'])

/** Shows the faults that the next request of a call can meet. One is armed at a time. */
export function FaultBar({ session }: { readonly session: Session }): VNode {
  const { armed, faultKinds } = session.state
  const at = useSignal<ArmedFault['at']>('request')
  const delay = useSignal(5)
  const toggle = (kind: FaultKind): void => {
    const body = armed.value?.kind === kind ? { kind: null } : { kind, at: at.value, delayMs: delay.value * 1000 }
    void session.command('fault', body)
  }
  return (
    <fieldset class="faults">
      <legend>Disturb the next</legend>
      <select
        aria-label="Request that is disturbed"
        value={at.value}
        onChange={(event) => void (at.value = event.currentTarget.value === 'answer' ? 'answer' : 'request')}
      >
        <option value="request">request</option>
        <option value="answer">answer of a question</option>
      </select>
      {faultKinds.value.map((kind) => (
        <button
          key={kind}
          type="button"
          class="fault"
          title={labels[kind][1]}
          aria-pressed={armed.value?.kind === kind}
          onClick={() => toggle(kind)}
        >
          {labels[kind][0]}
        </button>
      ))}
      <label class="delay">
        later by
        <input
          type="number"
          min={0}
          max={600}
          value={delay.value}
          onInput={(event) => void (delay.value = Math.min(600, Math.max(0, Number(event.currentTarget.value))))}
        />
        s
      </label>
      {armed.value && (
        <p class="hint" role="status">
          {armedWords(armed.value)}
        </p>
      )}
    </fieldset>
  )
}

function armedWords({ kind, at, delayMs }: ArmedFault): string {
  const subject =
    at === 'answer' || ofAnswers.has(kind) ? 'the next answer of a question' : 'the next request of a call'
  const amount = kind === 'later' ? ` by ${delayMs / 1000} s` : ''
  return `Armed for ${subject}: ${labels[kind][0]}${amount}. ${labels[kind][1]}.`
}
