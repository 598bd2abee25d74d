import { randomBytes } from 'node:crypto'
import type { Commands } from './api/commands.ts'
import { Calls } from './calls/calls.ts'
import { PageClient } from './calls/page-client.ts'
import { EventLog } from './event-log.ts'
import { parseDevTarget, watchedFolders } from './target/dev-target.ts'
import type { ServeDevOptions } from './dev-options.ts'
import { Target, type TargetOptions } from './target/target.ts'
import { watchFiles } from './target/watch-files.ts'
import { Wire } from './wire/wire.ts'

/** A server under development, with its calls and their record. */
export interface DevSession {
  readonly log: EventLog
  readonly target: Target
  readonly calls: Calls
  readonly commands: Commands
  close(): Promise<void>
}

/** Starts a server, and watches its files. */
export async function openSession(options: ServeDevOptions): Promise<DevSession> {
  const { env = process.env, cwd = process.cwd(), http = {}, otherToken, panels = [], instances = 2 } = options
  const devTarget = parseDevTarget(options.target, cwd)
  const watched = watchedFolders(devTarget, options.watch ?? [], cwd)
  const log = new EventLog()
  const wire = new Wire(log, { hasUser: otherToken !== undefined })
  wire.setServer({ hasProcess: devTarget.kind !== 'url', isHttp: devTarget.kind !== 'command' })
  const target = new Target({
    target: devTarget,
    instanceCount: devTarget.kind === 'module' ? instances : 1,
    watched,
    env: withStateKey(env),
    cwd,
    log,
    wire,
    http,
    otherToken,
  })
  const calls = new Calls(log, wire)
  log.append({ type: 'panels', panels: panels.map(({ name, title }) => ({ name, title })) })
  const page = new PageClient(target, calls)
  target.onRestart = () => calls.endOlder(target.state.revision)
  target.onReady = () => void page.listTools()
  const stopWatching = watched.length === 0 ? undefined : await watchFiles(watched, () => target.restart())
  page.use('probe')
  const close = async (): Promise<void> => {
    await stopWatching?.()
    calls.close()
    await target.close()
  }
  return { log, target, calls, commands: createCommands(target, calls, page), close }
}

/** Adds the key of this run, so that what the server seals opens in its next process. */
function withStateKey(env: TargetOptions['env']): TargetOptions['env'] {
  const { STATE_KEYS, STATE_KEYS_FILE } = env
  const hasKey = STATE_KEYS !== undefined || STATE_KEYS_FILE !== undefined
  return hasKey ? env : { ...env, STATE_KEYS: randomBytes(32).toString('base64url') }
}

function createCommands(target: Target, calls: Calls, page: PageClient): Commands {
  return {
    startCall: (tool, args) => {
      calls.rejectAnswerFault(target.state.revision)
      return calls.start(page.client, { tool, args })
    },
    stopCall: (id) => calls.stop(id),
    answer: (id, answer) => calls.questions.answer(id, answer),
    arm: (kind, options) => calls.arm(kind === undefined ? undefined : { kind, ...options }),
    useRevision: (revision) => page.use(revision),
    restart: () => target.restart(),
    kill: () => target.kill(),
  }
}
