import type { VNode } from 'preact'
import type { Session } from '../session/session.ts'
import { Charts } from './charts.tsx'
import { Controls } from './controls.tsx'
import { Lanes } from './lanes.tsx'
import { Sums } from './sums.tsx'

/** The whole page. */
export function Page({ session }: { readonly session: Session }): VNode {
  const snapshot = session.snapshot.value
  return (
    <>
      <PageHeader session={session} />
      <main>
        {snapshot === undefined ? (
          <p class="hint">Waiting for the server …</p>
        ) : (
          <>
            <Controls session={session} snapshot={snapshot} />
            <Sums totals={snapshot.totals} recent={snapshot.recent} />
            <Lanes session={session} snapshot={snapshot} />
            <Charts points={session.points.value} lanes={snapshot.lanes} />
          </>
        )}
      </main>
      <p class="visually-hidden" role="status" data-announcement>
        {session.announcement}
      </p>
    </>
  )
}

function PageHeader({ session }: { readonly session: Session }): VNode {
  const snapshot = session.snapshot.value
  const isLive = session.isLive.value
  return (
    <header class="page-header">
      <img src="/icon.svg" alt="" width="36" height="36" />
      <div>
        <h1>Load shedding over MCP</h1>
        <p>Overloaded and stopping instances hand running calls off to other instances</p>
      </div>
      <p class="server">
        <span class={isLive ? 'lamp lit' : 'lamp'} aria-hidden="true" />
        {isLive ? 'Live' : 'Not connected'}
        {snapshot !== undefined && (
          <>
            {' · '}
            {snapshot.balancer} <code>{new URL(snapshot.url).host}</code>
          </>
        )}
        {' · '}
        <a href="/trace.html">Trace and metrics</a>
      </p>
    </header>
  )
}
