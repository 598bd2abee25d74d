import { backgroundKey, errorCodes, type JsonObject, McpError } from '@x/schema'
import { resultMeta } from '../compile/catalog.ts'
import { quote, type RequestState } from './served-request.ts'
import { hideError } from './hide-error.ts'
import { writeJournal } from './journal.ts'
import { effectsOf, failRun, continueAsTask, journalOf, type Run, tooLate } from './run.ts'
import type { TaskChoice } from '../definitions/task-choice.ts'

/** Returns whether a call becomes a task before its handler runs. */
export function beginsAsTask(choice: TaskChoice | undefined, { call, journal }: RequestState): boolean {
  if (choice === undefined || choice === 'never' || journal !== undefined) return false
  return choice === 'required' || call.context.get(backgroundKey)?.accepted === true
}

/**
 * Makes the call a task from here on, or resolves: with true when it is one, with false when it cannot be and goes on
 * all the same.
 */
export async function becomeTask(run: Run, choice: TaskChoice): Promise<boolean> {
  if (run.phase !== 'running') throw tooLate(run, 'ctx.task')
  if (run.inStep) throw failRun(run, 'nested', 'ctx.task was used inside a step: use it between steps')
  if (run.request.journal !== undefined) return true
  return beginsAsTask(choice, run.request) ? continueAsTask(run) : false
}

/** Hands the call over with what it has been answered and has recorded: the result says where it goes on. */
export async function handOverToTask(run: Run): Promise<JsonObject> {
  const { request, name } = run
  const { call, catalog } = request
  const background = call.context.get(backgroundKey)
  if (background === undefined) throw withoutTasks(run)
  const id = request.callId === undefined ? undefined : await effectsOf(run)
  const result = await background.begin(writeJournal(journalOf(run)), id).catch((error: unknown) => {
    throw hideError(error, request, name)
  })
  const meta = resultMeta(undefined, catalog)
  return meta === undefined ? result : { ...result, _meta: meta }
}

/** The tool is there for clients of an instance that takes tasks on; the peer can do nothing about it. */
function withoutTasks({ name }: Run): McpError {
  const message = `${quote(name)} runs as a task, and nothing takes tasks on here`
  return new McpError(errorCodes.internal, message)
}
