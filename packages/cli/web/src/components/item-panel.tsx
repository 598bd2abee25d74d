import { useSignal } from '@preact/signals'
import { type JsonObject, type JsonValue, parseJsonObject } from '@x/core'
import type { RefObject, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { FormFields, focusFirstIssue } from '../inputs/form-fields.tsx'
import type { Form } from '../forms/form.ts'
import type { Completions } from '../inputs/input-props.ts'
import type { Item } from '../state/items.ts'
import type { ItemForm, Session } from '../state/session.ts'
import { FaultBar } from './fault-bar.tsx'

/** Shows the form of what is picked, and the faults for its next call. */
export function ItemPanel({ session }: { readonly session: Session }): VNode {
  const picked = session.picked.value
  return (
    <section class="card" aria-labelledby="tool">
      {picked === undefined ? (
        <h2 id="tool">Nothing to call</h2>
      ) : (
        <ArgumentsForm key={`${picked.item.kind} ${picked.item.target}`} picked={picked} session={session} />
      )}
      <FaultBar session={session} />
    </section>
  )
}

function ArgumentsForm({ picked, session }: { readonly picked: ItemForm; readonly session: Session }): VNode {
  const { item, form } = picked
  const { kind, target, label } = item
  const completions = useCompletions(item, form, session)
  const json = useSignal<string | undefined>(undefined)
  const issue = useSignal<string | undefined>(undefined)
  const panel = useRef<HTMLFormElement>(null)
  useCallKey(panel)
  const submit = (element: HTMLFormElement): void => {
    const args = json.value === undefined ? toArguments(form.read()) : parseJsonObject(json.value)
    issue.value =
      args === undefined && json.value !== undefined ? 'Write an object of JSON, such as {"id": 17}.' : undefined
    if (args !== undefined) void session.call({ kind, target, args })
    else focusFirstIssue(element)
  }
  return (
    <form
      ref={panel}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        submit(event.currentTarget)
      }}
    >
      <div class="card-head">
        <h2 id="tool">{label}</h2>
        {kind === 'tool' && (
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
        )}
      </div>
      <ItemTexts item={item} />
      {json.value === undefined ? (
        <FormFields form={form} prefix="tool" completions={completions} />
      ) : (
        <JsonArguments text={json.value} issue={issue.value} onText={(text) => void (json.value = text)} />
      )}
      <div class="actions">
        <button type="submit" class="primary">
          {kind === 'tool' || kind === 'prompt' ? 'Call' : 'Read'} <code>{label}</code> <kbd>Ctrl Enter</kbd>
        </button>
      </div>
    </form>
  )
}

/** Calls by Ctrl-Enter also while the focus is in the list, where the tool was picked. Other forms keep their keys. */
function useCallKey(panel: RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    const callOnKey = (event: KeyboardEvent): void => {
      const form = event.target instanceof Element ? event.target.closest('form') : null
      const isCall = event.key === 'Enter' && (event.ctrlKey || event.metaKey)
      if (isCall && (form === null || form === panel.current)) panel.current?.requestSubmit()
    }
    document.addEventListener('keydown', callOnKey)
    return () => document.removeEventListener('keydown', callOnKey)
  }, [])
}

function ItemTexts({ item }: { readonly item: Item }): VNode {
  const { label, target, description, warnings } = item
  return (
    <>
      {description !== undefined && <p class="hint">{description}</p>}
      {label !== target && (
        <p class="hint">
          <code>{target}</code>
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning} class="notice warned">
          {warning}
        </p>
      ))}
    </>
  )
}

/** Asks the server to complete the arguments of prompts and templates while the user types. */
function useCompletions({ kind, target }: Item, form: Form, session: Session): Completions | undefined {
  const values = useSignal<ReadonlyMap<string, readonly string[]>>(new Map())
  if (kind !== 'prompt' && kind !== 'template') return undefined
  const request = async (name: string, value: string): Promise<void> => {
    const args = Object.fromEntries([...form.drafts.peek()].filter(([other, draft]) => other !== name && draft !== ''))
    const result = await session.ask('complete', { kind, target, name, value, args }).catch(() => undefined)
    const found: unknown = Object(result).values
    if (Array.isArray(found)) values.value = new Map([...values.peek(), [name, found.map(String)]])
  }
  return { values, request: (name, value) => void request(name, value) }
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
