import { isJsonObject, type JsonValue, parseJson } from '@x/core'
import type { VNode } from 'preact'
import { type MessageView, maxTextLength } from '../../../src/dev/events.ts'
import type { Session } from '../state/session.ts'
import { showBytes } from '../units.ts'
import { StateView } from './state-view.tsx'

interface MessageRowProps {
  readonly session: Session
  readonly message: MessageView
  /** Milliseconds from the start of the call. */
  readonly afterMs: number
}

/** Shows a message in one line, and as JSON when it is opened. */
export function MessageRow({ session, message, afterMs }: MessageRowProps): VNode {
  const { pid, http, note, text } = message
  const json = parseJson(text)
  const token = readState(text)
  return (
    <li class={`message hue-${(pid ?? 0) % 6}`}>
      <details>
        <MessageSummary message={message} json={json} afterMs={afterMs} />
        {http !== undefined && <pre>{headText(http)}</pre>}
        {text !== '' && <pre>{json === undefined ? text : JSON.stringify(json, undefined, 2)}</pre>}
      </details>
      {token !== undefined && <StateView session={session} token={token} />}
      {note !== undefined && <p class="fault-note">{note}</p>}
    </li>
  )
}

function MessageSummary({
  message,
  json,
  afterMs,
}: Omit<MessageRowProps, 'session'> & { readonly json: JsonValue | undefined }): VNode {
  const { direction, pid, bytes, stateBytes, http } = message
  return (
    <summary>
      <span class="arrow">{direction === 'sent' ? '→' : '←'}</span>
      <span class="what">{titleOf(json, message)}</span>
      {http?.status !== undefined && <span class="tag">{http.status}</span>}
      {pid !== undefined && <span class="instance">{pid}</span>}
      <span class="size">
        {showBytes(bytes)}
        {stateBytes !== undefined && `, ${showBytes(stateBytes)} state`} · {Math.max(0, Math.round(afterMs))} ms
      </span>
    </summary>
  )
}

function titleOf(json: JsonValue | undefined, { http, text }: MessageView): string {
  if (isJsonObject(json)) {
    if (typeof json['method'] === 'string') return json['method']
    if (isJsonObject(json['error'])) return `error ${String(json['error']['code'])}`
    if (isJsonObject(json['result'])) return String(json['result']['resultType'] ?? 'result')
  }
  if (text.length >= maxTextLength) return 'a message that is too large to show'
  return http?.method ?? 'no message'
}

/** Returns the state that a question hands out, or that its answer brings back. */
export function readState(text: string): string | undefined {
  const json = parseJson(text)
  if (!isJsonObject(json)) return undefined
  const holder = json['params'] ?? json['result']
  const state = isJsonObject(holder) ? holder['requestState'] : undefined
  return typeof state === 'string' ? state : undefined
}

function headText({ method, status, headers }: NonNullable<MessageView['http']>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [method ?? `HTTP ${status}`, ...lines].join('\n')
}
