import type { JsonObject } from '@x/schema'
import { reportServerError, logContextOf } from '../request/report.ts'
import { createHandOffReport } from '../shedding/hand-off.ts'
import { countShedCall, readCurrentLoad } from '../shedding/load-monitor.ts'
import type { ShedEvent, ShedReason } from '../shedding/shedding-options.ts'
import type { Run } from './run.ts'
import { sealState } from './seal-state.ts'
import { formatInputRequired } from './input-required-result.ts'

/**
 * Returns the result that hands a call off. It contains only `requestState`, and the client sends the call again at
 * once, to any instance. Returns undefined if the journal cannot be sealed, for example because it is too large. That
 * failure is logged.
 */
export async function shedCall(run: Run, reason: ShedReason): Promise<JsonObject | undefined> {
  const { request, name, journal } = run
  // A stopping instance does not report its load.
  const report = reason === 'stopping' ? undefined : createHandOffReport(request.settings.loadMonitor)
  const handedOffJournal = journal.toHandedOff(report)
  let requestState: string
  try {
    requestState = await sealState(handedOffJournal, request, name)
  } catch {
    return undefined
  }
  notifyShedCall(run, reason, handedOffJournal.shedCount + handedOffJournal.stopCount)
  return formatInputRequired(run, requestState)
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
