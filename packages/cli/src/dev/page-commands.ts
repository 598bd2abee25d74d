import { messageOf } from '@x/core'
import { inspectState } from '@x/server/inspect'
import type { Commands } from './api/commands.ts'
import type { Calls } from './calls/calls.ts'
import type { PageClient } from './calls/page-client.ts'
import { toJson } from './calls/to-json.ts'
import { Doctor, type DoctorHttp } from './doctor.ts'
import type { EventLog } from './event-log.ts'
import { readStateKeys } from './state-keys.ts'
import type { Target } from './target/target.ts'

export function createPageCommands({
  log,
  target,
  calls,
  page,
  env,
  http,
  signal,
}: {
  readonly log: EventLog
  readonly target: Target
  readonly calls: Calls
  readonly page: PageClient
  readonly env: Readonly<Record<string, string | undefined>>
  readonly http: DoctorHttp
  readonly signal: AbortSignal
}): Commands {
  const doctor = new Doctor(log, target, { http, signal })
  return {
    startCall: (request) => {
      calls.rejectAnswerFault(target.state.revision)
      return calls.start(page.client, request).id
    },
    callForApp: async (request) => {
      const { error, result = null } = await calls.start(page.client, request).ended
      if (error !== undefined) throw new Error(error)
      return result
    },
    stopCall: (id) => calls.stop(id),
    answer: (id, answer) => page.questions.answer(id, answer),
    arm: (kind, options) => calls.arm(kind === undefined ? undefined : { kind, ...options }),
    useProfile: (profile) => page.use(profile),
    restart: () => target.restart(),
    kill: () => target.kill(),
    complete: async ({ kind, target: text, name, value, args }) => {
      const ref =
        kind === 'prompt'
          ? ({ type: 'ref/prompt', name: text } as const)
          : ({ type: 'ref/resource', uri: text } as const)
      const { completion } = await page.client.complete(ref, { name, value }, { arguments: args })
      return completion.values
    },
    useTask: (id, action) => page.tasks.use(id, action),
    openState: async (token) => {
      try {
        const { journal: _, ...report } = await inspectState(token, { keys: await readStateKeys(env) })
        return Object(toJson(report))
      } catch (error) {
        // The server may have keys of its own.
        return { problem: messageOf(error) }
      }
    },
    examine: () => doctor.start(),
  }
}
