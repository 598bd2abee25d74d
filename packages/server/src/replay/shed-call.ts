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
 * Returns the result that hands a call off. It contains only `requestState`, and the client sends the call again at
 * once, to any instance. Returns undefined if the journal cannot be sealed, for example because it is too large. That
 * failure is logged.
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

/**
 * Counts a hand-off in the journal. A stopping instance does not report its load, and its hand-offs are counted
 * separately from those because of load.
 */
function countHandOff(reason: ShedReason, journal: Journal, loadMonitor: LoadMonitor): void {
  if (reason === 'stopping') {
    journal.stopCount++
    journal.handOff = undefined
  } else {
    journal.shedCount++
    journal.handOff = createHandOffReport(loadMonitor)
  }
}

/**
 * Stores the answers to requests of `inputRequired` in the journal. They came with this request, and the client does
 * not send them to the next instance.
 */
function storeResponses(run: Run): void {
  const journal = journalOf(run)
  if (run.responses === undefined || (journal.explicitRound === undefined && run.responses.size === 0)) return
  const responses = new Map(Array.from(run.responses, ([key, response]) => [key, asJson(response)]))
  // Answers that came with the first request have no recorded requests, so the answers themselves show the methods.
  const methodsByKey = new Map(Array.from(responses, ([key, response]) => [key, inferRequestMethod(response)]))
  journal.explicitRound = { methodsByKey, state: undefined, ...journal.explicitRound, responses }
}

function asJson(response: InputResponse): JsonObject {
  // The cast is safe, because the response came as JSON. The compiler only objects that its interface has no index
  // signature.
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
