import type { JsonValue } from '@x/schema'
import type { VNode } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { QuestionView } from '../../../src/dev/events.ts'
import type { Field } from '../forms/field.ts'
import { openForm } from '../forms/form.ts'
import { questionFields, toContent } from '../forms/question-fields.ts'
import { FormFields, focusFirstIssue } from '../inputs/form-fields.tsx'
import type { Session } from '../state/session.ts'
import { showCount } from '../units.ts'

interface QuestionPanelProps {
  readonly question: QuestionView
  readonly session: Session
}

/**
 * Shows a question of the server. It is not modal, so that the user can change the source, restart the server or arm a
 * fault while it is open.
 */
export function QuestionPanel({ question, session }: QuestionPanelProps): VNode {
  const { id, key, callId, target = `Call ${callId}`, kind, message, again, schema, url, sampling } = question
  const panel = useRef<HTMLFormElement>(null)
  const form = useMemo(() => openForm(fieldsOf(question)), [schema])
  const others = session.state.questions.value.length - 1
  useLayoutEffect(() => {
    const returnTo = document.activeElement
    panel.current?.querySelector<HTMLElement>('input, select, textarea, button')?.focus({ preventScroll: true })
    panel.current?.scrollIntoView({ block: 'nearest' })
    return () => {
      if (returnTo instanceof HTMLElement) returnTo.focus()
    }
  }, [])
  const answer = (action: string, content: object = {}): void => void session.command('answer', { id, action, content })
  return (
    <form
      ref={panel}
      class="card question"
      aria-labelledby="question"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        const values = form.read()
        if (values === undefined) focusFirstIssue(event.currentTarget)
        else answer('accept', toBody(values))
      }}
    >
      <p class="asks">
        {target} asks <code>{key}</code>
        {others > 0 && <span> · {showCount(others, 'more question')}</span>}
      </p>
      <h2 id="question">{message}</h2>
      {again !== undefined && <p class="notice warned">Asked again: {again}.</p>}
      {sampling !== undefined && <pre>{JSON.stringify(sampling, undefined, 2)}</pre>}
      {kind === 'url' && url !== undefined && <QuestionUrl url={url} />}
      <FormFields form={form} prefix={`question-${id}`} />
      <div class="actions">
        <button type="submit" class="primary">
          {kind === 'url' ? 'Done' : 'Answer'}
        </button>
        <button type="button" onClick={() => answer('decline')}>
          Decline
        </button>
        {kind !== 'sampling' && (
          <button type="button" class="quiet" onClick={() => answer('cancel')}>
            Cancel
          </button>
        )}
      </div>
    </form>
  )
}

/** The answer of a model has the same fields for every request. */
const samplingFields: readonly Field[] = [
  { name: 'text', label: 'Text', required: true, kind: { type: 'text' }, initial: '' },
  { name: 'model', label: 'Model', required: true, kind: { type: 'text' }, initial: 'by-hand' },
  { name: 'stopReason', label: 'Stop reason', required: true, kind: { type: 'text' }, initial: 'endTurn' },
]

function fieldsOf({ kind, schema }: QuestionView): readonly Field[] {
  if (kind === 'sampling') return samplingFields
  return schema === undefined ? [] : questionFields(schema)
}

/** Shows the whole URL, which only a click opens (client/elicitation, safe URL handling). */
function QuestionUrl({ url }: { readonly url: string }): VNode {
  return (
    <p>
      <a href={url} target="_blank" rel="noreferrer noopener">
        {url}
      </a>
    </p>
  )
}

/** An empty field is sent as `null`: JSON has no `undefined`. */
function toBody(values: ReadonlyMap<string, JsonValue | undefined>): object {
  return Object.fromEntries(Object.entries(toContent(values)).map(([name, value]) => [name, value ?? null]))
}
