import type { VNode } from 'preact'
import type { ServerState } from '../../../src/dev/events.ts'
import type { Session } from '../state/session.ts'
import { showDuration } from '../units.ts'

const revisions = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** Shows the server and its state, and what can be done with it. */
export function Head({ session }: { readonly session: Session }): VNode {
  const server = session.state.server.value
  const isLost = session.state.link.value !== 'live'
  return (
    <header class="page-head">
      <Title server={server} />
      <p class={`state state-${isLost ? 'lost' : server?.status}`}>
        {isLost ? linkWords(session) : server && statusWords(server)}
      </p>
      {server && !isLost && <HeadActions session={session} server={server} />}
      <Problems problem={session.problem.value} reason={isLost ? undefined : server?.reason} />
    </header>
  )
}

function Title({ server }: { readonly server: ServerState | undefined }): VNode {
  return (
    <div class="title">
      <h1>{server?.name ?? 'mcpx dev'}</h1>
      <p>
        <code>{server?.target}</code>
      </p>
    </div>
  )
}

interface ProblemsProps {
  /** Why the last command was refused. */
  readonly problem: string | undefined
  /** Why the server is not ready. */
  readonly reason: string | undefined
}

function Problems({ problem, reason }: ProblemsProps): VNode {
  return (
    <>
      {problem !== undefined && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
      {reason !== undefined && <pre class="reason">{reason}</pre>}
    </>
  )
}

function HeadActions({ session, server }: { readonly session: Session; readonly server: ServerState }): VNode {
  return (
    <div class="head-actions">
      <label class="revision">
        as
        <select
          value={server.revision ?? 'probe'}
          onChange={(event) => void session.command('revision', { revision: event.currentTarget.value })}
        >
          {server.revision === undefined && <option value="probe">newest revision</option>}
          {revisions.map((revision) => (
            <option key={revision} value={revision}>
              {revision}
            </option>
          ))}
        </select>
      </label>
      {server.isOwn && (
        <button type="button" onClick={() => void session.command('restart')}>
          Restart
        </button>
      )}
      {server.isOwn && server.status === 'ready' && (
        <button type="button" onClick={() => void session.command('kill')}>
          Kill
        </button>
      )}
    </div>
  )
}

function linkWords({ state }: Session): string {
  return state.link.value === 'connecting' ? 'Connecting …' : 'No connection to mcpx dev. Start it again.'
}

function statusWords({ status, pids, startMs, transport, watched }: ServerState): string {
  switch (status) {
    case 'starting':
      return 'Starting …'
    case 'restarting':
      return 'Restarting; calls wait'
    case 'ended':
      return watched.length > 0 ? 'Ended; waits for a change' : 'Ended'
    case 'silent':
      return 'Does not answer its first request'
    case 'ready': {
      const process = pids.length === 0 ? '' : ` · ${pids.length === 1 ? 'process' : 'processes'} ${pids.join(', ')}`
      return `Ready over ${transport}${process}${startMs === undefined ? '' : ` · in ${showDuration(startMs)}`}`
    }
  }
}
