import type { JsonObject, JsonValue } from '@x/schema'
import type { VNode } from 'preact'
import type { Revision } from '../session/calls.ts'
import type { Session } from '../session/session.ts'
import type { ToolForm } from '../session/tools.ts'
import type { WorkItems } from '../session/work-items.ts'
import type { Suggestions } from '@x/cli/web/inputs/entries-input.tsx'
import { FormFields, focusFirstIssue } from '@x/cli/web/inputs/form-fields.tsx'

/** Shows the selection of a tool, and the form for its arguments. */
export function ToolPanel({ session }: { readonly session: Session }): VNode {
  const { tools } = session
  const picked = tools.picked.value
  return (
    <section class="card" aria-labelledby="tool">
      <div class="card-head">
        <h2 id="tool">Call a tool</h2>
      </div>
      {tools.failure.value && (
        <p class="notice bad" role="alert">
          {tools.failure}{' '}
          <button type="button" class="quiet" onClick={() => void session.start()}>
            Try again
          </button>
        </p>
      )}
      <fieldset class="segments">
        <legend class="visually-hidden">Tool</legend>
        {tools.all.value?.map(({ tool }) => (
          <label key={tool.name} class="segment">
            <input
              type="radio"
              name="tool"
              class="visually-hidden"
              checked={tool === picked?.tool}
              onChange={() => tools.pick(tool.name)}
            />
            {tool.title ?? tool.name}
          </label>
        ))}
      </fieldset>
      {picked && <ArgumentsForm key={picked.tool.name} picked={picked} session={session} />}
    </section>
  )
}

const revisions: readonly (readonly [Revision, string])[] = [
  ['2026-07-28', '2026-07-28'],
  ['2025-11-25', '2025-11-25, SEP-1685 state'],
]

/** Shows the selection of the revision of the next call. */
function RevisionSelect({ session: { revision } }: { readonly session: Session }): VNode {
  const select = (value: string): void => {
    revision.value = value === '2025-11-25' ? value : '2026-07-28'
  }
  return (
    <label class="revision">
      Revision
      <select value={revision.value} onChange={(event) => select(event.currentTarget.value)}>
        {revisions.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

function ArgumentsForm({ picked, session }: { readonly picked: ToolForm; readonly session: Session }): VNode {
  const { tool, form } = picked
  const isRunning = session.calls.isRunning.value
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (isRunning) return
        const values = form.read()
        if (values === undefined) focusFirstIssue(event.currentTarget)
        else void session.call(toArguments(values))
      }}
    >
      {tool.description && <p class="hint">{tool.description}</p>}
      <FormFields form={form} prefix="tool" suggestions={suggestionsOf(session.workItems)} />
      {session.hasOlderClient && <RevisionSelect session={session} />}
      <div class="actions">
        {/* Not disabled while it runs: focus comes back to it when a question is answered. */}
        <button type="submit" class="primary" aria-disabled={isRunning}>
          {isRunning ? 'Calling …' : 'Call'} <code>{tool.name}</code>
        </button>
        {isRunning && (
          <button type="button" onClick={session.calls.stop}>
            Stop
          </button>
        )}
      </div>
    </form>
  )
}

function toArguments(values: ReadonlyMap<string, JsonValue | undefined>): JsonObject {
  return Object.fromEntries(
    [...values].flatMap(([name, value]): [string, JsonValue][] => (value === undefined ? [] : [[name, value]])),
  )
}

/** Returns suggested values of a work item's fields, from the known work items. */
function suggestionsOf({ items, selected }: WorkItems): Suggestions {
  const known = items.value ?? []
  const item = selected.value
  const fields = new Map(item !== undefined && 'fields' in item ? Object.entries(item.fields) : [])
  return {
    ids: known.map(({ id, title }) => ({ value: String(id), label: `#${id} ${title}` })),
    names: [...new Set(['System.State', ...fields.keys()])].toSorted(),
    current: new Map([...fields].map(([name, value]) => [name, String(value)])),
    values: new Map([
      ['System.State', [...new Set(['New', 'Active', 'Resolved', 'Closed', ...known.map(({ state }) => state)])]],
      ['System.AssignedTo', [...new Set(known.flatMap(({ assignedTo }) => assignedTo ?? []))]],
    ]),
  }
}
