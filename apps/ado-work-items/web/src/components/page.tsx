import type { VNode } from 'preact'
import type { Session } from '../session/session.ts'
import { QuestionDialog } from './question-dialog.tsx'
import { RunList } from './run-list.tsx'
import { ToolPanel } from './tool-panel.tsx'
import { WorkItemList } from './work-item-list.tsx'

interface PageProps {
  readonly session: Session
  /** Ends the login. Undefined for a server without a login. */
  readonly logOut?: (() => void) | undefined
}

/** Shows the whole page. */
export function Page({ session, logOut }: PageProps): VNode {
  const question = session.questions.current.value
  return (
    <>
      <PageHeader session={session} logOut={logOut} />
      <main class="columns">
        <WorkItemList workItems={session.workItems} />
        <ToolPanel session={session} />
        <RunList calls={session.calls} workItems={session.workItems} />
      </main>
      <p class="visually-hidden" role="status" data-announcement>
        {session.announcement}
      </p>
      {question && (
        <QuestionDialog
          key={question.id}
          open={question}
          waiting={session.questions.waiting.value}
          address={session.address}
          // A server with a login is no demo, so its visitors must not kill instances.
          instance={logOut === undefined ? askingInstance(session) : undefined}
        />
      )}
    </>
  )
}

/** Returns the instance of the last response of the current call. */
function askingInstance({ calls }: Session): number | undefined {
  return calls.runs.value[0]?.rounds.at(-1)?.instance?.id
}

function PageHeader({ session, logOut }: PageProps): VNode {
  const server = session.server.value
  const isThere = server !== undefined && session.workItems.failure.value === undefined
  return (
    <header class="page-header">
      <img src="/icon.svg" alt="" width="36" height="36" />
      <div>
        <h1>Work items over MCP</h1>
        <p>Tools that ask the user for input, on stateless servers</p>
      </div>
      <p class="server">
        <span class={isThere ? 'lamp lit' : 'lamp'} aria-hidden="true" />
        {server ?? 'Not connected'} <code>{session.address}/mcp</code>
        {logOut && (
          <button type="button" class="quiet" onClick={logOut}>
            Log out
          </button>
        )}
      </p>
    </header>
  )
}
