import { loopbackRedirect } from '@x/auth/node'
import { createLogin } from '../calls/stored-login.ts'
import type { Commands } from './api/commands.ts'
import { Calls } from './calls/calls.ts'
import { PageClient } from './calls/page-client.ts'
import { createPageCommands } from './page-commands.ts'
import type { ServeDevOptions } from './dev-options.ts'
import { EventLog } from './event-log.ts'
import { addStateKey } from './state-keys.ts'
import { openTarget } from './target/open-target.ts'
import type { Target } from './target/target.ts'
import { Wire } from './wire/wire.ts'

/** A server under development, with its calls and their record. */
export interface DevSession {
  readonly log: EventLog
  readonly target: Target
  readonly calls: Calls
  readonly commands: Commands
  close(): Promise<void>
}

export async function openDevSession(options: ServeDevOptions): Promise<DevSession> {
  const { otherToken } = options
  const env = addStateKey(options.env ?? process.env)
  const log = new EventLog()
  const wire = new Wire(log, { hasUser: otherToken !== undefined })
  const redirect = loopbackRedirect({
    // The page and the terminal show the URL of a login, which only a click opens.
    open: () => {},
    showLoginUrl: ({ href }, addedScopes) => log.append({ type: 'login', url: href, addedScopes }),
  })
  const http = options.http ?? { auth: createLogin(redirect) }
  const { target, watch } = openTarget({ ...options, env, http }, log, wire)
  const calls = new Calls(log, wire)
  const page = new PageClient(log, { target, calls, wire })
  target.onRestart = () => calls.endOlder(target.state.revision)
  target.onReady = () => void page.readLists()
  page.use({ host: undefined, revision: 'probe' })
  // The server starts while its files are found.
  const stopWatching = await watch()
  const closed = new AbortController()
  const close = async (): Promise<void> => {
    closed.abort()
    await stopWatching()
    calls.close()
    await target.close()
  }
  return {
    log,
    target,
    calls,
    commands: createPageCommands({ log, target, calls, page, env, http, signal: closed.signal }),
    close,
  }
}
