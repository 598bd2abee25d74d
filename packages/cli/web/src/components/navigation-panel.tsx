import type { VNode } from 'preact'
import type { CallView } from '../../../src/dev/events.ts'
import type { ItemGroup } from '../state/items.ts'
import type { Session } from '../state/session.ts'

/** Shows what the server offers, its tasks and the calls. */
export function NavigationPanel({ session }: { readonly session: Session }): VNode {
  const { lists, tasks } = session.state
  return (
    <nav class="card" aria-label="Offers and calls">
      {lists.value === undefined && <p class="hint">Waiting for the server …</p>}
      {session.groups.value.map((group) => (
        <ItemList key={group.title} group={group} session={session} />
      ))}
      {tasks.value.length > 0 && <TaskList session={session} />}
      <h2>Calls</h2>
      <CallList session={session} />
    </nav>
  )
}

function ItemList({ group, session }: { readonly group: ItemGroup; readonly session: Session }): VNode {
  const { title, items, problem } = group
  const picked = session.picked.value?.item
  return (
    <>
      <h2>{title}</h2>
      {problem !== undefined && <p class="notice bad">The list has failed: {problem}</p>}
      {problem === undefined && items.length === 0 && <p class="hint">The server has no tools.</p>}
      <ul class="list">
        {items.map((item) => (
          <li key={`${item.kind} ${item.target}`}>
            <button
              type="button"
              class="row"
              aria-current={picked?.kind === item.kind && picked.target === item.target}
              onClick={() => session.pick(item)}
            >
              <span class="row-name">
                {item.label}
                {item.warnings.length > 0 && <span class="warned"> ⚠</span>}
              </span>
              <span class="row-text">{item.description ?? item.target}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}

function TaskList({ session }: { readonly session: Session }): VNode {
  const use = (id: string, action: string): void => void session.command('task', { id, action })
  return (
    <>
      <h2>Tasks</h2>
      <ul class="list">
        {session.state.tasks.value.map(({ id, tool, callId, status }) => (
          <li key={id} class="task">
            <button type="button" class="row" onClick={() => session.showCall(callId)}>
              <span class="row-name">{tool}</span>
              <span class="row-text">
                {status}, {id}
              </span>
            </button>
            <button
              type="button"
              class="quiet"
              aria-label={`State of the task ${id}`}
              onClick={() => use(id, 'status')}
            >
              State
            </button>
            <button type="button" class="quiet" aria-label={`Cancel the task ${id}`} onClick={() => use(id, 'cancel')}>
              Cancel
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}

function CallList({ session }: { readonly session: Session }): VNode {
  const calls = session.state.calls.value
  if (calls.length === 0) return <p class="hint">No call yet.</p>
  return (
    <ul class="list">
      {calls.map((call) => (
        <li key={call.id}>
          <button
            type="button"
            class="row"
            aria-current={session.shownCallId.value === call.id}
            onClick={() => session.showCall(call.id)}
          >
            <span class="row-name">
              {call.id} {call.target}
            </span>
            <span class={`row-text outcome-${call.status}`}>{outcomeWords(call)}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

function outcomeWords({ source, status }: CallView): string {
  const words = { running: 'runs', done: 'done', tool_error: 'tool error', failed: 'failed', stopped: 'stopped' }[
    status
  ]
  return source === 'host' ? `${words}, of a host` : words
}
