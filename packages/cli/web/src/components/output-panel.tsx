import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Session } from '../state/session.ts'

/** Shows what the server writes, and the endpoint for hosts. */
export function OutputPanel({ session }: { readonly session: Session }): VNode {
  const pid = useSignal<number | undefined>(undefined)
  const { hostUrl } = session.state.setup.value
  const list = useRef<HTMLOListElement>(null)
  const entries = session.state.output.value
  const pids = [...new Set(entries.flatMap((entry) => entry.pid ?? []))]
  const shown = entries.filter((entry) => pid.value === undefined || entry.pid === pid.value)
  useLayoutEffect(() => {
    list.current?.scrollTo({ top: list.current.scrollHeight })
  }, [shown.length])
  return (
    <section class="card output" aria-labelledby="output">
      <div class="card-head">
        <h2 id="output">Server</h2>
        {pids.length > 1 && (
          <select
            aria-label="Process"
            value={String(pid.value ?? '')}
            onChange={(event) => void (pid.value = Number(event.currentTarget.value) || undefined)}
          >
            <option value="">all processes</option>
            {pids.map((one) => (
              <option key={one} value={String(one)}>
                {one}
              </option>
            ))}
          </select>
        )}
      </div>
      {hostUrl !== undefined && (
        <p class="hint">
          Hosts connect to <code>{hostUrl}</code>
        </p>
      )}
      {shown.length === 0 && <p class="hint">What the server writes appears here.</p>}
      <ol ref={list} class="lines" tabIndex={0} aria-label="Lines of the server">
        {shown.map((entry) => (
          <li key={entry.seq} class={`hue-${(entry.pid ?? 0) % 6}`}>
            {entry.pid !== undefined && <span class="pid">{entry.pid}</span>} {entry.text}
          </li>
        ))}
      </ol>
    </section>
  )
}
