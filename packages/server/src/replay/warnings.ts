import { quoteName } from '@x/core'
import type { WarningCode } from '../request/report.ts'
import type { Run, RunOutcome } from './run.ts'
import { isSuspension } from './handler-error.ts'

/**
 * Warns the author of a problem in a handler. The call continues. `problem` continues a sentence that begins with the
 * name of the handler.
 */
export function warnAboutRun(run: Run, code: WarningCode, problem: string, key?: string): void {
  const { method, settings } = run.request
  const errorContext = { method, name: run.name }
  settings.warn({ code, message: `${method} ${quoteName(run.name)} ${problem}`, where: errorContext, key })
}

/** Warns that a handler builds the schema of a question in every run, which costs more than the run itself. */
export function warnRebuiltForm(run: Run, key: string): void {
  const advice = 'make the form once, where the module loads: const answer = form(z.object({ … }))'
  warnAboutRun(run, 'rebuilt_form', `builds the schema of "${key}" again and again: ${advice}`, key)
}

/**
 * Warns that an earlier run made a step that this run did not reach: its effect has happened, and nothing uses its
 * result. A handler with checkpoints may continue behind its steps.
 */
export function warnUnusedStep(run: Run): void {
  // Strict replay compares all uses of its runs.
  const key = run.isStrict ? undefined : run.existingJournal?.findUnusedStep()
  if (key === undefined) return
  const problem = `did not come to its step "${key}" when it ran again`
  const advice = 'in each run, decide by the arguments, the answers and the results of steps alone'
  warnAboutRun(run, 'not_repeatable', `${problem}: ${advice}`, key)
}

/**
 * Warns that a handler caught its suspension, for example with `catch {}`, and continued with code that should not run.
 */
export function warnSwallowedError(run: Run, outcome: RunOutcome<unknown>): void {
  // A handler that failed on its own before the suspension has hidden nothing.
  if ('thrown' in outcome && (run.closedWhileStopping || isSuspension(outcome.thrown))) return
  const [key] = run.askedQuestions?.keys() ?? []
  const endDescription = 'thrown' in outcome ? 'threw something else' : 'returned'
  const actionDescription =
    key === undefined
      ? `was to ${run.end?.kind === 'became_task' ? 'become a task' : 'move to another instance'}`
      : `asked "${key}"`
  const advice = 'await every question and step, and let errors pass for which isSuspension(error) is true'
  warnAboutRun(run, 'swallowed', `${actionDescription} and then ${endDescription} as if it had not: ${advice}`, key)
}
