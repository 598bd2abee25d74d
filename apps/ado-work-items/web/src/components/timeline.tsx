import type { VNode } from 'preact'
import type { RoundMessages } from '../session/messages.ts'
import type { RoundEntry, Run } from '../session/run.ts'
import { showBytes, showDuration } from '@x/cli/web/units.ts'

/**
 * Shows the rounds of a call from top to bottom: the instance, the duration, the questions and the size of the state.
 */
export function Timeline({ run }: { readonly run: Run }): VNode {
  const isOpen = run.outcome === undefined
  const last = run.rounds.at(-1)
  const isAsking = last?.asked.some(({ answer }) => answer === undefined) ?? false
  return (
    <ol class="timeline">
      {run.rounds.map((entry) => (
        <RoundView key={entry.round} entry={entry} isOpen={isOpen} />
      ))}
      {isOpen && !isAsking && (
        <li class="round under-way">
          <p class="round-head">
            <strong>Round {run.rounds.length + 1}</strong> <span class="hint">waiting for an instance …</span>
          </p>
        </li>
      )}
    </ol>
  )
}

function RoundView({ entry, isOpen }: { readonly entry: RoundEntry; readonly isOpen: boolean }): VNode {
  const { round, instance, durationMs, stateBytes, asked, status, isRestarted, messages } = entry
  const unanswered = isOpen ? 'waits for your answer' : 'not answered'
  return (
    <li class={`round ${hueOf(instance?.id)}`} data-round={round}>
      <p class="round-head">
        <strong>Round {round}</strong>
        <span class="instance" title={instance && `process ${instance.pid}`}>
          {instance === undefined ? 'unnamed instance' : `instance ${instance.id}`}
        </span>
        <span class="took">{showDuration(durationMs)}</span>
      </p>
      {isRestarted && <p class="hint">The state was no longer valid, so the call started again.</p>}
      {asked.map(({ key, message, answer }) => (
        <div key={key} class="exchange">
          <p class="asked">{message}</p>
          <p class={answer === undefined ? 'answer open' : 'answer'}>{answer ?? unanswered}</p>
        </div>
      ))}
      <p class="hint">{closing(status, asked.length, stateBytes)}</p>
      {messages && <MessagesView messages={messages} />}
    </li>
  )
}

/** Shows the messages of a round as JSON. */
function MessagesView({ messages: { title, messages } }: { readonly messages: RoundMessages }): VNode {
  return (
    <details class="messages">
      <summary>{title}</summary>
      {messages.map(({ label, message }, index) => (
        <div key={index}>
          <p class="hint">{label}</p>
          <pre>{JSON.stringify(message, undefined, 2)}</pre>
        </div>
      ))}
    </details>
  )
}

function closing(status: RoundEntry['status'], questions: number, stateBytes: number): string {
  if (status === 'complete') return 'Returned the result.'
  const state = stateBytes === 0 ? 'no state' : `${showBytes(stateBytes)} of sealed state`
  return questions === 0 ? `Asked the client to retry, with ${state}.` : `Asked, with ${state}.`
}

/** Returns the colour of an instance. There are six colours, and an instance always has the same one. */
function hueOf(id: number | undefined): string {
  return id === undefined ? 'hue-none' : `hue-${Math.abs(Math.trunc(id)) % 6}`
}
