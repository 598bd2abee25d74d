import type { VNode } from 'preact'
import type { CallView } from '../../../src/dev/events.ts'
import type { Session } from '../state/session.ts'

/** Shows the tools and the calls. */
export function NavigationPanel({ session }: { readonly session: Session }): VNode {
  return (
    <nav class="card" aria-label="Tools and calls">
      <h2>Tools</h2>
      <ToolList session={session} />
      <h2>Calls</h2>
      <CallList session={session} />
    </nav>
  )
}

function ToolList({ session }: { readonly session: Session }): VNode {
  const { tools, toolsProblem } = session.state
  if (toolsProblem.value !== undefined) return <p class="notice bad">The list has failed: {toolsProblem}</p>
  if (tools.value === undefined) return <p class="hint">Waiting for the server …</p>
  if (tools.value.length === 0) return <p class="hint">The server has no tools.</p>
  return (
    <ul class="list">
      {tools.value.map((tool) => (
        <li key={tool.name}>
          <button
            type="button"
            class="row"
            aria-current={session.picked.value?.tool.name === tool.name}
            onClick={() => session.pickTool(tool.name)}
          >
            <span class="row-name">{tool.name}</span>
            <span class="row-text">{tool.title ?? tool.description}</span>
          </button>
        </li>
      ))}
    </ul>
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
