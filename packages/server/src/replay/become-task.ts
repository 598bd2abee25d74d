import { quoteText } from '@x/core'
import { backgroundKey, olderRequestKey } from '@x/exchange'
import { errorCodes, type JsonObject, McpError } from '@x/schema'
import type { TaskChoice } from '../definitions/context.ts'
import { allowUnawaited } from '../request/awaitable.ts'
import { toInternalError } from './handler-error.ts'
import type { Run } from './run.ts'
import type { ServedRequest } from './served-request.ts'

/** Hands the journal to the engine that continues the call as a task, and returns the result that names the task. */
export async function passToRunner(run: Run): Promise<JsonObject> {
  const { request, journal } = run
  const { call, catalog } = request
  const backgroundRunner = call.context.get(backgroundKey)
  if (backgroundRunner === undefined) throw tasksUnavailableError(run)
  const id = request.callId === undefined ? undefined : await journal.effectsId()
  const result = await backgroundRunner.begin(journal.serializeForTask(), id, call.context).catch((error: unknown) => {
    throw toInternalError(error, run)
  })
  return { ...result, _meta: catalog.resultMeta }
}

/**
 * For a call that must run as a task where no tasks are served. It is an internal error, because the client cannot
 * correct it.
 */
function tasksUnavailableError({ name }: Run): McpError {
  const message = `${quoteText(name)} runs as a task, and this instance serves no tasks`
  return new McpError(errorCodes.internal, message)
}

/**
 * True if a call becomes a task before its handler runs. Older revisions have no such tasks, so an older client's call
 * runs as an ordinary one, whatever its tool says (seps/2663-tasks-extension).
 */
export function shouldBeginAsTask(choice: TaskChoice | undefined, { call, journalStore }: ServedRequest): boolean {
  if (
    choice === undefined ||
    choice === 'never' ||
    journalStore !== undefined ||
    call.context.get(olderRequestKey) !== undefined
  )
    return false
  return choice === 'required' || call.context.get(backgroundKey)?.accepted === true
}

/**
 * Continues the call as a task, which ends this run. Resolves with true if it already is one, and with false if it
 * cannot become one.
 */
export function becomeTask(run: Run, choice: TaskChoice): Promise<boolean> {
  return allowUnawaited(continueAsTask(run, choice))
}

async function continueAsTask(run: Run, choice: TaskChoice): Promise<boolean> {
  run.uses.checkUse('ctx.continueAsTask', 'use it between steps')
  if (run.request.journalStore !== undefined) return true
  return shouldBeginAsTask(choice, run.request) ? run.becomeTask() : false
}
