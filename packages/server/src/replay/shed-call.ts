import { type InputResponse, isJsonObject, type JsonObject, projectMetaKeys } from '@x/schema'
import { report } from '../request/report.ts'
import { tagHandOff } from '../shedding/hand-off.ts'
import { type LoadMonitor, loadOf } from '../shedding/load-monitor.ts'
import type { ShedEvent } from '../shedding/shedding-options.ts'
import type { Journal } from './journal.ts'
import { journalOf, type Run } from './run.ts'
import { answeredMethod } from './input-capabilities.ts'
import { sealState } from './seal-state.ts'
import { formatInputRequired } from './input-required-result.ts'

/**
 * The result that hands a call over: `requestState` alone, with which the client comes back at once, to whichever
 * instance it is sent to. Undefined when the journal cannot be sealed, as when it is too large; the author was told.
 */
export async function shedCall(run: Run): Promise<JsonObject | undefined> {
  const journal = journalOf(run)
  const { loadMonitor } = run.request.settings
  const previousCounts = { sheds: journal.sheds, stops: journal.stops, handOff: journal.handOff }
  countHandOff(run, journal, loadMonitor)
  storeResponses(run)
  try {
    const requestState = await sealState(journal, run.request, run.name)
    notifyShed(run, journal.sheds + journal.stops)
    return withHandOffPause(formatInputRequired(run, requestState), loadMonitor)
  } catch {
    Object.assign(journal, previousCounts)
    return undefined
  }
}

/** An instance that stops says nothing of its load, and takes nothing of the budget for load. */
function countHandOff({ shedReason }: Run, journal: Journal, loadMonitor: LoadMonitor): void {
  if (shedReason === 'stopping') {
    journal.stops++
    journal.handOff = undefined
  } else {
    journal.sheds++
    journal.handOff = tagHandOff(loadMonitor)
  }
}

/** Says how long to wait before the retry, where the author wants that. */
function withHandOffPause(result: JsonObject, { rules }: LoadMonitor): JsonObject {
  if (rules.handOffPauseMs === undefined) return result
  const { _meta } = result
  return {
    ...result,
    _meta: { ...(isJsonObject(_meta) && _meta), [projectMetaKeys.retryAfterMs]: rules.handOffPauseMs },
  }
}

/** Keeps answers to an explicit round: they came with this request, and nobody sends them again. */
function storeResponses(run: Run): void {
  const journal = journalOf(run)
  if (run.responses === undefined || (journal.explicit === undefined && run.responses.size === 0)) return
  const responses = new Map(Array.from(run.responses, ([key, response]) => [key, asJson(response)]))
  // Answers that came before anything was asked have no round of their own.
  const kinds = new Map(Array.from(responses, ([key, response]) => [key, answeredMethod(response)]))
  journal.explicit = { kinds, state: undefined, ...journal.explicit, responses }
}

function asJson(response: InputResponse): JsonObject {
  // It came as JSON: interfaces are no JSON to the compiler only because they have no index.
  return response as unknown as JsonObject
}

function notifyShed({ request, name, shedReason: reason = 'load' }: Run, sheds: number): void {
  const { method, settings } = request
  const { loadMonitor } = settings
  loadMonitor.sheds[reason]++
  const event: ShedEvent = { method, name, reason, sheds, load: loadOf(loadMonitor) }
  try {
    loadMonitor.rules.onShed(event)
  } catch (error) {
    report(error, { method, name }, settings)
  }
}
