import { signal } from '@preact/signals'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { FormFields, focusFirstIssue } from '../inputs/form-fields.tsx'
import type { Session, ToolForm } from '../state/session.ts'
import { FaultBar } from './fault-bar.tsx'

/** Shows the form of a tool, and the faults for its next call. */
export function ToolPanel({ session }: { readonly session: Session }): VNode {
  const picked = session.picked.value
  return (
    <section class="card" aria-labelledby="tool">
      {picked === undefined ? (
        <h2 id="tool">Call a tool</h2>
      ) : (
        <ArgumentsForm key={picked.tool.name} picked={picked} session={session} />
      )}
      <FaultBar session={session} />
    </section>
  )
}

function ArgumentsForm({ picked, session }: { readonly picked: ToolForm; readonly session: Session }): VNode {
  const { tool, form } = picked
  const json = useMemo(() => signal<string | undefined>(undefined), [])
  const issue = useMemo(() => signal<string | undefined>(undefined), [])
  const submit = (element: HTMLFormElement): void => {
    const args = json.value === undefined ? toArguments(form.read()) : parseArguments(json.value)
    issue.value =
      args === undefined && json.value !== undefined ? 'Write an object of JSON, such as {"id": 17}.' : undefined
    if (args !== undefined) void session.call(tool.name, args)
    else focusFirstIssue(element)
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        submit(event.currentTarget)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event.currentTarget)
      }}
    >
      <div class="card-head">
        <h2 id="tool">{tool.name}</h2>
        <button
          type="button"
          class="quiet"
          onClick={() => {
            json.value =
              json.value === undefined ? JSON.stringify(toArguments(form.read()) ?? {}, undefined, 2) : undefined
            issue.value = undefined
          }}
        >
          {json.value === undefined ? 'Write JSON' : 'Use the form'}
        </button>
      </div>
      {tool.description && <p class="hint">{tool.description}</p>}
      {json.value === undefined ? (
        <FormFields form={form} prefix="tool" />
      ) : (
        <JsonArguments text={json.value} issue={issue.value} onText={(text) => void (json.value = text)} />
      )}
      <div class="actions">
        <button type="submit" class="primary">
          Call <code>{tool.name}</code> <kbd>Ctrl Enter</kbd>
        </button>
      </div>
    </form>
  )
}

interface JsonArgumentsProps {
  readonly text: string
  readonly issue: string | undefined
  readonly onText: (text: string) => void
}

/** Shows the arguments as one text of JSON, for values that the form cannot make. */
function JsonArguments({ text, issue, onText }: JsonArgumentsProps): VNode {
  return (
    <div class={issue === undefined ? 'field' : 'field invalid'}>
      <label for="tool-json">Arguments</label>
      <textarea
        id="tool-json"
        rows={8}
        spellcheck={false}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {issue !== undefined && (
        <p class="issue" role="alert">
          {issue}
        </p>
      )}
    </div>
  )
}

function toArguments(values: ReadonlyMap<string, JsonValue | undefined> | undefined): JsonObject | undefined {
  if (values === undefined) return undefined
  return Object.fromEntries(
    [...values].flatMap(([name, value]): [string, JsonValue][] => (value === undefined ? [] : [[name, value]])),
  )
}

function parseArguments(text: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
