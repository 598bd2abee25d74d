import { h, type VNode } from 'preact'
import { type PanelProps, panelElement } from '../panel.ts'
import type { PanelState } from '../state/dev-state.ts'
import type { Session } from '../state/session.ts'

/** Shows a panel of the program that has opened this page. */
export function PanelCard({ panel, session }: { readonly panel: PanelState; readonly session: Session }): VNode {
  const { name, title, data, problem } = panel
  const props: PanelProps<unknown> = {
    data,
    isLive: session.state.link.value === 'live',
    send: (command) => session.sendToPanel(name, command),
    fill: session.fill,
  }
  return (
    <section class="card panel" aria-labelledby={`panel-${name}`}>
      <h2 id={`panel-${name}`}>{title}</h2>
      {problem !== undefined && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
      {h(panelElement(name), { panel: props })}
    </section>
  )
}
