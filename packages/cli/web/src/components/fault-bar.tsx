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

/**
 * Shows the faults that the next request of a call can meet. One is armed at a time: a button with another choice moves
 * it, and the same choice once more disarms it.
 */
export function FaultBar({ session }: { readonly session: Session }): VNode {
  const { armed, faultKinds } = session.state
  const at = useSignal<ArmedFault['at']>('request')
  const delay = useSignal(5)
  const choiceOf = (kind: FaultKind): ArmedFault => ({
    kind,
    at: ofAnswers.has(kind) ? 'answer' : at.value,
    delayMs: delay.value * 1000,
  })
  const isArmed = (kind: FaultKind): boolean => armed.value !== undefined && isSameFault(armed.value, choiceOf(kind))
  const toggle = (kind: FaultKind): void =>
    void session.command('fault', isArmed(kind) ? { kind: null } : choiceOf(kind))
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
          aria-pressed={isArmed(kind)}
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

/** Only `later` has a delay. */
function isSameFault(one: ArmedFault, other: ArmedFault): boolean {
  return one.kind === other.kind && one.at === other.at && (one.kind !== 'later' || one.delayMs === other.delayMs)
}

function armedWords({ kind, at, delayMs }: ArmedFault): string {
  const subject = at === 'answer' ? 'the next answer of a question' : 'the next request of a call'
  const amount = kind === 'later' ? ` by ${delayMs / 1000} s` : ''
  return `Armed for ${subject}: ${labels[kind][0]}${amount}. ${labels[kind][1]}.`
}
