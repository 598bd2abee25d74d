import type { VNode } from 'preact'
import type { DoctorView, ServerState } from '../../../src/dev/events.ts'
import type { PendingLogin } from '../state/dev-state.ts'
import type { Session } from '../state/session.ts'
import { showDuration } from '../units.ts'

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
      <Problems session={session} reason={isLost ? undefined : server?.reason} />
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

/** `reason` says why the server is not ready. */
function Problems({ session, reason }: { readonly session: Session; readonly reason: string | undefined }): VNode {
  const { login, doctor, warnings } = session.state
  const problem = session.problem.value
  return (
    <>
      {login.value !== undefined && <LoginNotice {...login.value} />}
      {doctor.value && <DoctorCard doctor={doctor.value} />}
      {warnings.value.map((warning) => (
        <p key={warning} class="notice warned">
          {warning}
        </p>
      ))}
      {session.state.server.value?.notice !== undefined && (
        <p class="notice warned">{session.state.server.value.notice}</p>
      )}
      {problem !== undefined && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
      {reason !== undefined && <pre class="reason">{reason}</pre>}
    </>
  )
}

/** Shows what `mcpx doctor` has found. */
function DoctorCard({ doctor }: { readonly doctor: DoctorView }): VNode {
  const { isRunning, findings } = doctor
  const count = (status: string): number => findings.filter((one) => one.status === status).length
  const wrong = findings.filter(({ status }) => status === 'wrong')
  return (
    <section class={`notice ${wrong.length > 0 ? 'bad' : isRunning ? '' : 'good'}`} aria-labelledby="doctor">
      <details open={wrong.length > 0}>
        <summary id="doctor">
          Doctor: {count('ok')} right, {wrong.length} wrong, {count('skipped')} skipped{isRunning && ' so far …'}
        </summary>
        <ul class="list">
          {[...wrong, ...findings.filter(({ status }) => status !== 'wrong')].map(({ id, status, found, change }) => (
            <li key={id}>
              <strong>{status === 'ok' ? 'right' : status}</strong> <code>{id}</code> {found}
              {change !== undefined && <p>{change}</p>}
            </li>
          ))}
        </ul>
      </details>
    </section>
  )
}

function HeadActions({ session, server }: { readonly session: Session; readonly server: ServerState }): VNode {
  return (
    <div class="head-actions">
      <ProfilePicker session={session} server={server} />
      {server.status === 'ready' && (
        <button
          type="button"
          aria-disabled={session.state.doctor.value?.isRunning === true}
          onClick={() => void session.command('doctor')}
        >
          Doctor
        </button>
      )}
      {(server.isOwn || server.status === 'ended') && (
        <button type="button" onClick={() => void session.command('restart')}>
          {server.isOwn ? 'Restart' : 'Connect again'}
        </button>
      )}
      {server.pids.length > 0 && server.status === 'ready' && (
        <button type="button" onClick={() => void session.command('kill')}>
          Kill
        </button>
      )}
    </div>
  )
}

const revisions = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** Picks the client that the page acts as: one that can do everything, or what a real host declares. */
function ProfilePicker({ session, server }: { readonly session: Session; readonly server: ServerState }): VNode {
  const { profile, revision = 'probe' } = server
  return (
    <label class="revision">
      as
      <select
        value={profile === undefined ? revision : `host ${profile}`}
        onChange={({ currentTarget: { value } }) => {
          const host = value.startsWith('host ') ? { host: value.slice(5) } : { revision: value }
          void session.command('client', host)
        }}
      >
        {profile === undefined && revision === 'probe' && <option value="probe">newest revision</option>}
        <optgroup label="A client with everything">
          {revisions.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </optgroup>
        <optgroup label="What a host declares">
          {session.state.setup.value.hosts.map(({ host, revision: spoken }) => (
            <option key={host} value={`host ${host}`}>
              {host}, {spoken}
            </option>
          ))}
        </optgroup>
      </select>
    </label>
  )
}

function LoginNotice({ url, addedScopes }: PendingLogin): VNode {
  return (
    <p class="notice">
      The server requires {addedScopes.length === 0 ? 'a login' : `${addedScopes.join(' ')}, which your login lacks`}.{' '}
      <a href={url} target="_blank" rel="noreferrer noopener">
        Log in at {new URL(url).host}
        {addedScopes.length > 0 && ', and grant it'}
      </a>
    </p>
  )
}

function linkWords({ state }: Session): string {
  return state.link.value === 'connecting' ? 'Connecting …' : 'No connection to mcpx dev. Start it again.'
}

function statusWords(server: ServerState): string {
  const { status, pids, startMs, transport } = server
  switch (status) {
    case 'starting':
      return 'Starting …'
    case 'restarting':
      return 'Restarting; calls wait'
    case 'ended':
      return endedWords(server)
    case 'login_needed':
      return 'Waits for a log-in'
    case 'silent':
      return 'Does not answer its first request'
    case 'ready': {
      const process = pids.length === 0 ? '' : ` · ${pids.length === 1 ? 'process' : 'processes'} ${pids.join(', ')}`
      return `Ready over ${transport}${process}${startMs === undefined ? '' : ` · in ${showDuration(startMs)}`}`
    }
  }
}

function endedWords({ isOwn, watched }: ServerState): string {
  if (!isOwn) return 'Not connected'
  return watched.length > 0 ? 'Ended; waits for a change' : 'Ended'
}
