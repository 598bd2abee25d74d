import { h, type VNode } from 'preact'
import { type PanelProps, panelElement } from '../panel.ts'
import type { PanelState } from '../state/dev-state.ts'
import type { Session } from '../state/session.ts'
import { CallPanel } from './call-panel.tsx'
import { Head } from './head.tsx'
import { NavigationPanel } from './navigation-panel.tsx'
import { OutputPanel } from './output-panel.tsx'
import { QuestionPanel } from './question-panel.tsx'
import { ItemPanel } from './item-panel.tsx'

/** Shows the whole page. */
export function Page({ session }: { readonly session: Session }): VNode {
  const { link } = session.state
  if (link.value === 'refused')
    return (
      <main class="alone">
        <h1>mcpx dev</h1>
        <p class="notice bad" role="alert">
          The address of this page has no valid token. Open the address that <code>mcpx dev</code> has printed, with the
          part after the <code>#</code>.
        </p>
      </main>
    )
  const question = session.shownQuestion.value
  return (
    <>
      <Head session={session} />
      {session.state.panels.value.map((panel) => (
        <PanelCard key={panel.name} panel={panel} session={session} />
      ))}
      <main class="columns">
        <NavigationPanel session={session} />
        <div class="work">
          <ItemPanel session={session} />
          {question && <QuestionPanel key={question.id} question={question} session={session} />}
          <CallPanel session={session} />
        </div>
        <OutputPanel session={session} />
      </main>
      <p class="visually-hidden" role="status">
        {announcementOf(session)}
      </p>
    </>
  )
}

/** Shows a panel of the program that has opened this page. */
function PanelCard({ panel, session }: { readonly panel: PanelState; readonly session: Session }): VNode {
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

/** Says what changed, for a screen reader. */
function announcementOf({ state, shownCallId, shownQuestion }: Session): string {
  const question = shownQuestion.value
  if (question !== undefined) return `Question: ${question.message}`
  const call = state.calls.value.find(({ id }) => id === shownCallId.value)
  return call === undefined || call.status === 'running' ? '' : `${call.target}: ${call.status}`
}
