import type { InputResponse, JsonObject } from '@x/schema'
import { reportServerError, logContextOf } from '../request/report.ts'
import { createHandOffReport } from '../shedding/hand-off.ts'
import { countShedCall, type LoadMonitor, readCurrentLoad } from '../shedding/load-monitor.ts'
import type { ShedEvent, ShedReason } from '../shedding/shedding-options.ts'
import type { Journal } from './journal.ts'
import { journalOf, type Run } from './run.ts'
import { inferRequestMethod } from './input-capabilities.ts'
import { sealState } from './seal-state.ts'
import { formatInputRequired } from './input-required-result.ts'

/**
 * Returns the result that hands a call over: `requestState` alone, which the client sends again at once, to any
 * instance. Undefined when the journal cannot be sealed, as when it is too large, which was reported to the author.
 */
export async function shedCall(run: Run, reason: ShedReason): Promise<JsonObject | undefined> {
  const journal = journalOf(run)
  const { loadMonitor } = run.request.settings
  const { shedCount, stopCount, handOff } = journal
  countHandOff(reason, journal, loadMonitor)
  storeResponses(run)
  try {
    const requestState = await sealState(journal, run.request, run.name)
    notifyShedCall(run, reason, journal.shedCount + journal.stopCount)
    return formatInputRequired(run, requestState)
  } catch {
    journal.shedCount = shedCount
    journal.stopCount = stopCount
    journal.handOff = handOff
    return undefined
  }
}

/** An instance that stops says nothing of its load, and takes nothing of the budget for load. */
function countHandOff(reason: ShedReason, journal: Journal, loadMonitor: LoadMonitor): void {
  if (reason === 'stopping') {
    journal.stopCount++
    journal.handOff = undefined
  } else {
    journal.shedCount++
    journal.handOff = createHandOffReport(loadMonitor)
  }
}

/** Keeps answers to an explicit round: they came with this request, and no client sends them again. */
function storeResponses(run: Run): void {
  const journal = journalOf(run)
  if (run.responses === undefined || (journal.explicitRound === undefined && run.responses.size === 0)) return
  const responses = new Map(Array.from(run.responses, ([key, response]) => [key, asJson(response)]))
  // Answers that came before anything was asked have no round of their own.
  const methodsByKey = new Map(Array.from(responses, ([key, response]) => [key, inferRequestMethod(response)]))
  journal.explicitRound = { methodsByKey, state: undefined, ...journal.explicitRound, responses }
}

function asJson(response: InputResponse): JsonObject {
  // It came as JSON: interfaces are no JSON to the compiler only because they have no index.
  return response as unknown as JsonObject
}

function notifyShedCall({ request, name }: Run, reason: ShedReason, shedCount: number): void {
  const { method, settings } = request
  const { loadMonitor } = settings
  countShedCall(loadMonitor, reason)
  const event: ShedEvent = { method, name, reason, shedCount, load: readCurrentLoad(loadMonitor) }
  try {
    loadMonitor.rules.onShed(event)
  } catch (error) {
    reportServerError(error, logContextOf(request, name), settings)
  }
}
