import { useSignal } from '@preact/signals'
import { isJsonObject, type JsonObject } from '@x/schema'
import type { VNode } from 'preact'
import type { Session } from '../state/session.ts'

/** Shows what a `requestState` contains, opened with the key of this run. */
export function StateView({ session, token }: { readonly session: Session; readonly token: string }): VNode {
  const report = useSignal<JsonObject | undefined>(undefined)
  const open = async (): Promise<void> => {
    report.value = Object(await session.ask('state', { token }))
  }
  if (report.value === undefined)
    return (
      <button type="button" class="quiet" onClick={() => void open()}>
        Open the state
      </button>
    )
  const { problem, round, callId, startedAt, expiresAt, questions, steps, checkpoints } = report.value
  if (typeof problem === 'string') return <p class="notice bad">The state cannot be opened: {problem}</p>
  return (
    <dl class="journal">
      <Row name="Call" value={`${callId}, round ${round}, began ${timeOf(startedAt)}, expires ${timeOf(expiresAt)}`} />
      {Array.isArray(questions) &&
        questions.map((one) => {
          const { key, answer } = isJsonObject(one) ? one : {}
          return (
            <Row key={key} name={`Question ${key}`} value={answer === undefined ? 'not answered yet' : json(answer)} />
          )
        })}
      {rowsOf('Step', steps)}
      {rowsOf('Checkpoint', checkpoints)}
    </dl>
  )
}

function rowsOf(kind: string, values: unknown): readonly VNode[] {
  return Object.entries(Object(values)).map(([key, value]) => (
    <Row key={`${kind} ${key}`} name={`${kind} ${key}`} value={json(value)} />
  ))
}

function Row({ name, value }: { readonly name: string; readonly value: string }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function json(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function timeOf(time: unknown): string {
  return new Date(Number(time)).toLocaleTimeString()
}
