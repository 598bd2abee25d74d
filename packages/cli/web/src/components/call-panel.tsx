import { isJsonObject } from '@x/schema'
import type { VNode } from 'preact'
import type { CallView } from '../../../src/dev/events.ts'
import type { TimelineEntry } from '../state/dev-state.ts'
import type { Session } from '../state/session.ts'
import { showDuration } from '../units.ts'
import { AppFrame } from './app-frame.tsx'
import { CopyButtons } from './copy-buttons.tsx'
import { MessageRow } from './message-row.tsx'
import { type CallProps, RunsNote } from './runs-note.tsx'

/** Shows a call: its messages in their order, what the client decided, and the result. */
export function CallPanel({ session }: { readonly session: Session }): VNode {
  const id = session.shownCallId.value
  const call = session.state.calls.value.find((one) => one.id === id)
  return (
    <section class="card" aria-labelledby="call">
      {call === undefined ? <NoCall /> : <CallDetails session={session} call={call} />}
    </section>
  )
}

function NoCall(): VNode {
  return (
    <>
      <h2 id="call">No call yet</h2>
      <p class="hint">Every message of a call appears here, with its size, its process and what the client did.</p>
    </>
  )
}

function CallDetails({ session, call }: { readonly session: Session; readonly call: CallView }): VNode {
  const { id, target, args, status, durationMs } = call
  return (
    <>
      <div class="card-head">
        <h2 id="call">
          Call {id}: {target}
        </h2>
        <span class="hint">
          {status === 'running' ? 'runs' : durationMs !== undefined && showDuration(durationMs)}
          {status === 'running' && call.source === 'page' && (
            <button type="button" class="quiet" onClick={() => void session.command('stop', { id })}>
              Stop
            </button>
          )}
          {status !== 'running' && call.method === 'tools/call' && (
            <button type="button" class="quiet" onClick={() => void session.call({ kind: 'tool', target, args })}>
              Call again
            </button>
          )}
        </span>
      </div>
      <p class="hint">
        <code>{JSON.stringify(args)}</code>
      </p>
      <Advice title="What to change" text={call.remedy} />
      <Advice title="What the fault has shown" text={call.lesson} />
      <ol class="messages">
        {session.state.timelineOf(id).map((entry) => (
          <TimelineRow key={entry.seq} session={session} entry={entry} startedAt={call.startedAt} />
        ))}
      </ol>
      <Outcome session={session} call={call} />
      {status === 'done' && <AppFrame key={id} session={session} call={call} />}
      {status !== 'running' && <CopyButtons session={session} call={call} />}
    </>
  )
}

function Advice({ title, text }: { readonly title: string; readonly text: string | undefined }): VNode | null {
  if (text === undefined) return null
  return (
    <p class="notice lesson">
      <strong>{title}</strong> {text}
    </p>
  )
}

interface TimelineRowProps {
  readonly session: Session
  readonly entry: TimelineEntry
  readonly startedAt: number
}

function TimelineRow({ session, entry, startedAt }: TimelineRowProps): VNode {
  if (entry.type === 'message')
    return <MessageRow session={session} message={entry.message} afterMs={entry.at - startedAt} />
  return <li class="note">The client {entry.text}</li>
}

function Outcome({ session, call }: CallProps): VNode | null {
  const { status, result, error } = call
  if (status === 'running') return null
  const text = error ?? resultText(result)
  return (
    <div class={`notice ${status === 'done' ? 'good' : 'bad'}`} data-outcome={status}>
      <strong>{{ done: 'Result', tool_error: 'Tool error', failed: 'Failed', stopped: 'Stopped' }[status]}</strong>{' '}
      {text}
      {status === 'tool_error' && text.endsWith(' failed') && <ServerLines session={session} call={call} />}
      {status === 'done' && <RunsNote key={call.id} session={session} call={call} />}
      {result !== undefined && (
        <details>
          <summary>JSON</summary>
          <pre>{JSON.stringify(result, undefined, 2)}</pre>
        </details>
      )}
    </div>
  )
}

/** Milliseconds after the result in which the server still writes why its handler failed. */
const lateLinesMs = 500
/** The number of lines that are shown at the call. The panel of the server has the others. */
const maxServerLines = 12

/** Shows what the server wrote during a call. */
function ServerLines({ session, call: { startedAt, durationMs = 0 } }: CallProps): VNode {
  const endedAt = startedAt + durationMs + lateLinesMs
  const lines = session.state.output.value.filter(({ at }) => at >= startedAt && at <= endedAt)
  return (
    <pre>
      {lines
        .slice(-maxServerLines)
        .map(({ text }) => text)
        .join('\n')}
    </pre>
  )
}

/** Returns the texts of a result, and a word for each other part. */
function resultText(result: CallView['result']): string {
  const { content, contents, messages } = isJsonObject(result) ? result : {}
  if (Array.isArray(contents))
    return contents.map((part) => (isJsonObject(part) ? String(part['text'] ?? '(binary)') : '')).join('\n')
  if (Array.isArray(messages))
    return resultText({ content: messages.map((one) => (isJsonObject(one) ? one['content'] : one) ?? null) })
  if (!Array.isArray(content)) return ''
  return content
    .map((block) =>
      isJsonObject(block) ? String(block['type'] === 'text' ? block['text'] : `(${block['type']})`) : '',
    )
    .join('\n')
}
